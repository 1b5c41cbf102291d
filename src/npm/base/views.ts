import { PagepressError } from "./errors.js";

/** Typed arrays that calls accept. */
type Typed = Uint8Array | Uint16Array | Uint32Array | Float32Array;
type Constructor<A extends Typed> = new (buffer: ArrayBufferLike, byteOffset: number, length: number) => A;
type Place = readonly [buffer: ArrayBufferLike, byteOffset: number, byteLength: number];

/** Returns a built-in getter as a function, so that a subclass or an object of the caller cannot override it. */
function getter<T>(prototype: object, name: PropertyKey): (value: unknown) => T {
  const { get } = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor & { get: () => T };
  return (value) => Reflect.apply(get, value, []);
}

const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;
const tagOf = getter<string | undefined>(typedArray, Symbol.toStringTag);
const lengthOf = getter<number>(typedArray, "length");
const bufferLength = getter<number>(ArrayBuffer.prototype, "byteLength");

/** Returns a function that reads buffer, offset and length of a view with this prototype. */
function places(prototype: object): (value: unknown) => Place {
  const buffer = getter<ArrayBufferLike>(prototype, "buffer");
  const [offset, length] = [getter<number>(prototype, "byteOffset"), getter<number>(prototype, "byteLength")];
  return (value) => [buffer(value), offset(value), length(value)];
}

const placeOfTyped = places(typedArray);
const placeOfDataView = places(DataView.prototype);

/** Returns a view of the elements of `value` whose length stays fixed if its buffer grows; undefined unless `value` is an
 * array of this type, of any realm or subclass. Reads the length of `value` once. */
export function viewAs<A extends Typed>(Type: Constructor<A>, value: unknown): A | undefined {
  if (!ArrayBuffer.isView(value) || tagOf(value) !== Type.name) return undefined;
  const length = lengthOf(value);
  const [buffer, offset] = placeOfTyped(value);
  // A detached buffer has no views.
  return length === 0 ? new Type(new ArrayBuffer(0), 0, 0) : new Type(buffer, offset, length);
}

/** Returns the bits of a `Float16Array` of any realm, which not every engine has, as `viewAs` does; undefined for other
 * values. */
export function bitsOfFloat16(value: unknown): Uint16Array | undefined {
  if (!ArrayBuffer.isView(value) || tagOf(value) !== "Float16Array") return undefined;
  const length = lengthOf(value);
  const [buffer, offset] = placeOfTyped(value);
  return length === 0 ? new Uint16Array() : new Uint16Array(buffer, offset, length);
}

/** Returns the bytes of a buffer, or of a view of a buffer, as a view of fixed length; undefined for other values. */
export function viewOf(value: unknown): Uint8Array | undefined {
  try {
    const [buffer, offset, length] = placeOf(value);
    return length === 0 ? new Uint8Array() : new Uint8Array(buffer, offset, length);
  } catch {
    return undefined;
  }
}

function placeOf(value: unknown): Place {
  if (ArrayBuffer.isView(value)) return tagOf(value) === undefined ? placeOfDataView(value) : placeOfTyped(value);
  if (isUnshared(value)) return [value, 0, bufferLength(value)];
  // Pages that are not cross-origin isolated have no `SharedArrayBuffer`, but may have shared memory of WebAssembly.
  if (Object.prototype.toString.call(value) !== "[object SharedArrayBuffer]") throw new TypeError("no buffer");
  return placeOfTyped(new Uint8Array(value as ArrayBuffer));
}

function isUnshared(value: unknown): value is ArrayBuffer {
  try {
    bufferLength(value);
    return true;
  } catch {
    return false;
  }
}

/** Returns `view`, or a copy of it if its memory is shared, since other threads may write to it. Throws `OUT_OF_MEMORY`. */
export function unshared<A extends Typed>(view: A): A {
  if (isUnshared(view.buffer)) return view;
  try {
    return view.slice() as A;
  } catch (error) {
    const message = `out of memory: no room for a copy of ${view.byteLength} bytes of shared memory`;
    throw new PagepressError("OUT_OF_MEMORY", message, { cause: error });
  }
}
