/** The error of a file that is not LZ4 or is damaged. Its codes are those of the package. */
export class FrameError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
