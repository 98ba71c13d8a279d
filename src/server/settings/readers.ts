import { parseUsd } from '@farthing/protocol/money';

/** Reads one setting from text. @throws Error that says what is allowed */
export type Read<T> = (text: string) => T;

export const integer =
  (min: number, max: number): Read<number> =>
  (text) => {
    const value = Number(text);
    if (!/^-?\d{1,15}$/.test(text) || value < min || value > max)
      throw new Error(`must be a whole number from ${min} to ${max}`);
    return value;
  };

export const choice =
  <T extends string>(...values: readonly T[]): Read<T> =>
  (text) => {
    if (!(values as readonly string[]).includes(text))
      throw new Error(`must be one of: ${values.join(', ')}`);
    return text as T;
  };

export const httpUrl: Read<string> = (text) => {
  if (text === '') return '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new Error('must be an http or https address without query');
  }
  return text.replace(/\/+$/, '');
};

export const address: Read<string> = (text) => {
  if (text !== '' && !/^0x[0-9a-fA-F]{40}$/.test(text))
    throw new Error('must be a wallet address: 0x and 40 hexadecimal digits');
  return text;
};

/** Wei; 0n for an empty text. */
export const gweiOrNone: Read<bigint> = (text) => {
  if (text === '') return 0n;
  const [, whole, fraction = ''] = /^(\d{1,6})(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  const wei = whole === undefined ? 0n : BigInt(whole + fraction.padEnd(9, '0'));
  if (wei === 0n) throw new Error('must be a number of gwei above 0 with at most nine decimals');
  return wei;
};

/** Millionths of a dollar; 0n for an empty text. */
export const dollarsOrNone: Read<bigint> = (text) => {
  if (text === '') return 0n;
  const amount = parseUsd(text);
  if (amount === 0n) throw new Error('must be a number of dollars above 0');
  return amount;
};

export const portOrOff: Read<number | 'off'> = (text) => (text === 'off' ? text : integer(0, 65535)(text));

export const rowsOrMeasured: Read<number | undefined> = (text) =>
  text === 'measured' ? undefined : integer(1, 2 ** 32 - 1)(text);

export const contact: Read<string> = (text) => {
  if (text === '' || /^[^\s@]+@[^\s@]+$/.test(text)) return text;
  return httpUrl(text);
};

/** The limits of x402 v2 for names and tags. */
export const label: Read<string> = (text) => {
  if (!/^[\x20-\x7e]{1,32}$/.test(text)) throw new Error('must have 1 to 32 printable ASCII characters');
  return text;
};

export const tags: Read<readonly string[]> = (text) => {
  const found = list(text);
  if (found.length > 5) throw new Error('must be at most 5 tags, separated by commas');
  return found.map(label);
};

export const iconUrl: Read<string> = (text) => {
  if (text === '') return '';
  if (text.length > 2048 || !URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new Error('must be an http or https address of at most 2048 characters');
  return text;
};

export const shortText =
  (charsMax: number): Read<string> =>
  (text) => {
    if (text.length > charsMax) throw new Error(`must have at most ${charsMax} characters`);
    return text;
  };

export const cluster: Read<string> = (text) => {
  if (text !== '' && !/^etcds?:\/\/[\w.:,[\]-]+(\/[\w-]+)?$/.test(text))
    throw new Error('must be etcd://host:port,host:port/name, or etcds:// for TLS');
  return text;
};

export const objects: Read<string> = (text) => {
  const url = text !== '' && URL.canParse(text) ? new URL(text) : undefined;
  const isFolder = url?.protocol === 'file:' && url.hostname === '' && url.pathname.length > 1;
  const isBucket =
    url?.protocol === 's3:' &&
    url.hostname !== '' &&
    url.username === '' &&
    [...url.searchParams.keys()].every((key) => key === 'endpoint' || key === 'region');
  if (text !== '' && !isFolder && !isBucket)
    throw new Error('must be s3://bucket/prefix?endpoint=https://host:port&region=name, or file:///folder');
  if (isBucket) httpUrl(url.searchParams.get('endpoint') ?? '');
  return text;
};

export const text: Read<string> = (value) => value;
export const list: Read<readonly string[]> = (value) =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
/** Nodes' addresses often hold a key, in the path or the query. */
export const nodeUrl: Read<string> = (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.hash !== '')
    throw new Error('must be http or https addresses, separated by commas');
  return text;
};
export const nodeUrls: Read<readonly string[]> = (value) => list(value).map(nodeUrl);

/** The groups that a setting belongs to, and its name in each: `{ extract: 'bytesMax' }`. */
export type Place = Readonly<Record<string, string>>;

/** A setting: how it is read, its default as text, what it is for, and where it goes. */
export interface Setting<T, P extends Place = Place> {
  readonly read: Read<T>;
  readonly initial: string;
  readonly about: string;
  readonly place: P;
}

export const setting = <T, const P extends Place = Record<never, never>>(
  read: Read<T>,
  initial: string,
  about: string,
  place: P = {} as P,
): Setting<T, P> => ({ read, initial, about, place });

/** A setting that no output shows. A second variable, with `_FILE` behind its name, names a file that holds it. */
export const secret = (about: string) => ({ ...setting(text, '', about), isSecret: true }) as const;
