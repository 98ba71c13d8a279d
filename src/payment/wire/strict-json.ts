/** Nothing that a payment needs is nested deeper than this. */
const DEPTH_MAX = 24;

/**
 * Parses JSON that two readers must understand alike: an object at the top, no key twice in one object, no deep nesting.
 * @returns undefined for anything else.
 */
export function parseStrictObject(text: string): Record<string, unknown> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return isUnambiguous(text) ? (value as Record<string, unknown>) : undefined;
}

/** Walks valid JSON once and looks for repeated keys and for depth. */
function isUnambiguous(text: string): boolean {
  const levels: (Set<string> | null)[] = [];
  let expectsKey = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === 0x22) {
      const end = endOfString(text, at);
      if (expectsKey) {
        const keys = levels.at(-1)!;
        const plain = text.slice(at + 1, end);
        const key = plain.includes('\\') ? (JSON.parse(`"${plain}"`) as string) : plain;
        if (keys?.has(key)) return false;
        keys?.add(key);
        expectsKey = false;
      }
      at = end;
    } else if (character === 0x7b || character === 0x5b) {
      if (levels.length === DEPTH_MAX) return false;
      expectsKey = character === 0x7b;
      levels.push(expectsKey ? new Set() : null);
    } else if (character === 0x7d || character === 0x5d) {
      levels.pop();
      expectsKey = false;
    } else if (character === 0x2c) {
      expectsKey = levels.at(-1) !== null;
    }
  }
  return true;
}

/** The rest of a string after its opening quote. */
const STRING_REST = /[^"\\]*(?:\\.[^"\\]*)*"/y;

/** Index of the closing quote of the string that opens at `start`, in valid JSON. */
function endOfString(text: string, start: number): number {
  STRING_REST.lastIndex = start + 1;
  STRING_REST.test(text);
  return STRING_REST.lastIndex - 1;
}

/** The own property of an untrusted object, never one of its prototype. */
export function ownMember(object: unknown, name: string): unknown {
  return typeof object === 'object' && object !== null && Object.hasOwn(object, name)
    ? (object as Record<string, unknown>)[name]
    : undefined;
}
