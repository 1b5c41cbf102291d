declare module "*.wat" {
  /** The bytes of the assembled module. */
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}
