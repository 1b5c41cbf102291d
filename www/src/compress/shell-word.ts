/** Quotes `name` for a POSIX shell. A leading `./` keeps names that start with a dash from being read as options. */
export function shellWord(name: string): string {
  return /^[\w.,+@%][\w.,+@%-]*$/.test(name) ? name : `'./${name.replaceAll("'", "'\\''")}'`;
}
