/** A file's name, or a part of its path, without characters that nobody sees or that turn the text around them. */
export function printable(name: string): string {
  return name.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e]/gu, '').trim();
}
