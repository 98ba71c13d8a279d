/** A file's name, or a part of its path, without invisible characters and those that change the text's direction. */
export function printable(name: string): string {
  return name.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e]/gu, '').trim();
}
