/** The text in a character set that `TextDecoder` knows, without the letters that it lacks. */
export function encodedIn(charset: string, text: string): Buffer {
  const bytes = new Map<string, readonly number[]>();
  const add = (...letter: number[]): void => {
    const decoded = new TextDecoder(charset).decode(Uint8Array.from(letter));
    if (decoded.length === 1 && decoded !== '\ufffd' && !bytes.has(decoded)) bytes.set(decoded, letter);
  };
  for (let first = 0; first < 256; first++) add(first);
  if (/jis|euc|gbk|big5/.test(charset))
    for (let first = 0x81; first < 256; first++)
      for (let second = 0x40; second < 256; second++) add(first, second);
  return Buffer.from([...text].flatMap((letter) => bytes.get(letter) ?? []));
}
