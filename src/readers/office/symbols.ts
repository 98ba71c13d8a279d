/** The letters of the font Symbol from 0x41 and from 0x61 on. */
const CAPITALS = 'ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ';
const SMALL = 'αβχδεφγηιϕκλμνοπθρστυϖωξψζ';

const SYMBOL: Readonly<Record<number, string>> = {
  34: '∀',
  36: '∃',
  64: '≅',
  94: '⊥',
  163: '≤',
  165: '∞',
  171: '↔',
  172: '←',
  173: '↑',
  174: '→',
  175: '↓',
  176: '°',
  177: '±',
  178: '″',
  179: '≥',
  180: '×',
  181: '∝',
  182: '∂',
  183: '•',
  184: '÷',
  185: '≠',
  186: '≡',
  187: '≈',
  188: '…',
  198: '∅',
  199: '∩',
  200: '∪',
  206: '∈',
  207: '∉',
  209: '∇',
  210: '®',
  211: '©',
  212: '™',
  213: '∏',
  214: '√',
  215: '⋅',
  216: '¬',
  217: '∧',
  218: '∨',
  219: '⇔',
  222: '⇒',
  229: '∑',
  242: '∫',
};

const WINGDINGS: Readonly<Record<number, string>> = {
  108: '•',
  110: '■',
  111: '□',
  113: '❑',
  118: '❖',
  167: '▪',
  168: '☐',
  216: '➢',
  223: '←',
  224: '→',
  232: '→',
  240: '⇨',
  251: '✗',
  252: '✓',
  253: '☒',
  254: '☑',
};

/**
 * The character of a font of symbols. Such fonts put theirs into the private area from U+F000 on.
 * @returns undefined for an unknown one
 */
export function symbolOf(font: string, hexadecimal: string): string | undefined {
  const code = Number.parseInt(hexadecimal, 16);
  if (!(code >= 0x20 && code <= 0xffff)) return undefined;
  const isPrivate = code >= 0xf000 && code <= 0xf0ff;
  const place = isPrivate ? code - 0xf000 : code;
  if (/^symbol$/i.test(font)) {
    if (place >= 0x41 && place <= 0x5a) return CAPITALS[place - 0x41];
    if (place >= 0x61 && place <= 0x7a) return SMALL[place - 0x61];
    return SYMBOL[place] ?? (place < 0x7f ? String.fromCharCode(place) : undefined);
  }
  if (/^wingdings$/i.test(font)) return WINGDINGS[place];
  return isPrivate || /dings/i.test(font) ? undefined : String.fromCharCode(code);
}
