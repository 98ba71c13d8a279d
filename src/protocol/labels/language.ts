import { FarthingError } from '../error.ts';

/** ISO 639-1 codes of the languages that text models know by their ISO 639-3 codes. */
const THREE_LETTERS: Readonly<Record<string, string>> = {
  ...{ am: 'amh', ar: 'ara', bg: 'bul', bn: 'ben', ca: 'cat', cs: 'ces', da: 'dan', de: 'deu', el: 'ell' },
  ...{ en: 'eng', es: 'spa', fa: 'pes', fi: 'fin', fr: 'fra', gu: 'guj', he: 'heb', hi: 'hin', hr: 'hrv' },
  ...{ hu: 'hun', hy: 'hye', id: 'ind', it: 'ita', ja: 'jpn', ka: 'kat', km: 'khm', kn: 'kan', ko: 'kor' },
  ...{ ml: 'mal', mr: 'mar', my: 'mya', nb: 'nob', nl: 'nld', no: 'nob', pa: 'pan', pl: 'pol', pt: 'por' },
  ...{ ro: 'ron', ru: 'rus', si: 'sin', sk: 'slk', sr: 'srp', sv: 'swe', ta: 'tam', te: 'tel', th: 'tha' },
  ...{ tr: 'tur', uk: 'ukr', ur: 'urd', vi: 'vie', yi: 'yid', zh: 'cmn' },
};

/** Texts of several languages (ISO 639-3). */
export const SEVERAL_LANGUAGES = 'mul';

/** An ISO 639-3 code; of an ISO 639-1 code its longer form. @throws field_invalid for what is neither */
export function readLanguage(code: string): string {
  const lower = code.toLowerCase();
  if (/^[a-z]{3}$/.test(lower)) return lower;
  const longer = THREE_LETTERS[lower];
  if (longer !== undefined) return longer;
  throw new FarthingError(
    'field_invalid',
    'language: send an ISO 639 code such as "en", "de" or "rus", or "mul" for texts of several languages.',
    { facts: { field: 'language' } },
  );
}
