/** A file that is no LZ4, or is broken. Its codes are those of the package. */
export class FrameError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
