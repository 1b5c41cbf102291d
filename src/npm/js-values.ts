/** What a module has of JavaScript: values by number. `src/js.rs` is the other side. */
export class Values {
  #values: unknown[] = [undefined];
  #free: number[] = [];

  /** Keeps a value until its number is dropped. */
  add(value: unknown): number {
    const number = this.#free.pop() ?? this.#values.length;
    this.#values[number] = value;
    return number;
  }

  get<T>(number: number): T {
    return this.#values[number] as T;
  }

  /** All values that the module has. */
  all(): readonly unknown[] {
    return this.#values;
  }

  /** The value, which the module does not have any more. */
  take<T>(number: number): T {
    const value = this.get<T>(number);
    this.drop(number);
    return value;
  }

  drop(number: number): void {
    this.#values[number] = undefined;
    this.#free.push(number);
  }
}

/** A module as the functions that it imports see it. */
export interface Host {
  readonly values: Values;
  /** The module's memory as it is now: it may grow between two looks. */
  memory(): ArrayBuffer;
  /** Answers what the module asked with this token. Not to be called before the function that it asked has returned. */
  answer(token: number, number: number): void;
  fail(token: number, error: unknown): void;
  /** Says that a call is to be polled again. */
  wake(call: number): void;
  /** Says how far the call is that is being polled. */
  tell?(nPages: number, nBytes: number): void;
}

/** The functions `js` of a module. None of them throws. */
export function valueFunctions({ values, memory, answer, wake, tell = () => undefined }: Host): WebAssembly.ModuleImports {
  const inside = (start: number, length: number): Uint8Array => new Uint8Array(memory(), start >>> 0, length);
  const bytesAt = (number: number): Uint8Array => values.get<Uint8Array>(number);
  return {
    drop_value: (number: number) => values.drop(number),
    new_bytes: (length: number) => orNone(() => values.add(new Uint8Array(length >>> 0))),
    n_bytes: (bytes: number) => bytesAt(bytes).length,
    read_bytes: (bytes: number, start: number, to: number, length: number) =>
      inside(to, length).set(bytesAt(bytes).subarray(start, start + length)),
    write_bytes: (bytes: number, start: number, from: number, length: number) =>
      bytesAt(bytes).set(inside(from, length), start),
    copy_bytes: (to: number, at: number, from: number, start: number, length: number) =>
      bytesAt(to).set(bytesAt(from).subarray(start, start + length), at),
    make_buffer: (maker: number, length: number) =>
      orNone(() => values.add(values.get<(length: number) => unknown>(maker)(length))),
    now: () => performance.now(),
    after_turn: (token: number) => void setTimeout(() => answer(token, 0)),
    wake,
    tell,
  };
}

/** What `make` gives; 0 if it throws. */
export function orNone(make: () => number): number {
  try {
    return make();
  } catch {
    return 0;
  }
}
