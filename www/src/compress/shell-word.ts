/** `name` as a word of a shell, which takes it for a file whatever is in it. */
export function shellWord(name: string): string {
  return /^[\w.,+@%][\w.,+@%-]*$/.test(name) ? name : `'./${name.replaceAll("'", "'\\''")}'`;
}
