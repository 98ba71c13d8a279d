import { addNotRead, type NotRead } from '@farthing/protocol/file/not-read';
import { isData } from './json.ts';
import { type TextContents, textReader } from './text-format.ts';

/** A calendar (RFC 5545): a paragraph for each event, task or note. */
export const calendar = textReader({
  looksLike: ({ start }) => /^BEGIN:VCALENDAR\s/i.test(start),
  read: (text) => readContentLines(text),
});

/** Cards of people (RFC 6350): a paragraph for each. */
export const card = textReader({
  looksLike: ({ start }) => /^BEGIN:VCARD\s/i.test(start),
  read: (text) => readContentLines(text),
});

/** What programs tell each other. */
const TECHNICAL =
  /^(BEGIN|END|VERSION|PRODID|UID|DTSTAMP|SEQUENCE|CALSCALE|METHOD|REV|TZID|TZURL|TZOFFSETFROM|TZOFFSETTO|TRANSP|CLASS|ACTION|TRIGGER|LAST-MODIFIED|CREATED|X-.*)$/;
/** Words for the names that matter most. */
const NAMES: Readonly<Record<string, string>> = {
  SUMMARY: '',
  DTSTART: 'Start',
  DTEND: 'End',
  RRULE: 'Repeats',
  FN: '',
  N: 'Name',
  TEL: 'Telephone',
  ADR: 'Address',
  ORG: 'Organisation',
};

interface ContentLine {
  readonly name: string;
  readonly parameters: string;
  readonly value: string;
}

/** @param text lines that go on behind a line break and a space */
export function readContentLines(text: string): TextContents {
  const lines = unfolded(text);
  const paragraphs: string[] = [];
  let fields: string[] = [];
  let title: string | undefined;
  let notRead: readonly NotRead[] = [];
  const flush = (): void => {
    if (fields.length > 0) paragraphs.push(fields.join('\n'));
    fields = [];
  };
  for (const line of lines) {
    const { name, parameters, value } = parsedLine(line);
    if (name === 'BEGIN' || name === 'END') flush();
    if (name === 'X-WR-CALNAME') title = unescaped(value);
    if (TECHNICAL.test(name)) continue;
    if (/ENCODING=B(ASE64)?\b/i.test(parameters) || isData(value)) {
      notRead = addNotRead(notRead, { what: 'encoded_data', count: 1, why: 'unsupported' });
      continue;
    }
    const words = readable(name, parameters, value);
    if (words === '') continue;
    const label = NAMES[name] ?? name.charAt(0) + name.slice(1).toLowerCase().replaceAll('-', ' ');
    fields.push(label === '' ? words : `${label}: ${words}`);
  }
  flush();
  return {
    ...(title && { title }),
    blocks: paragraphs.map((paragraph) => ({ text: paragraph })),
    notRead,
  };
}

/** RFC 5545, 3.1; a soft line break of quoted-printable (vCard 2.1) is one, too. */
function unfolded(text: string): readonly string[] {
  return text
    .replace(/\n[ \t]/g, '')
    .replace(/=\n(?=[^\n]*(?:=[0-9A-F]{2}|;|$))/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
}

/** A colon in quotes does not end the name. */
function parsedLine(line: string): ContentLine {
  const match = /^(?:[\w-]{1,60}\.)?([\w-]{1,60})((?:;(?:"[^"]{0,500}"|[^":]){0,1000})?):(.*)$/.exec(line);
  if (!match) return { name: 'NOTE', parameters: '', value: line };
  return { name: match[1]!.toUpperCase(), parameters: match[2]!, value: match[3]! };
}

function readable(name: string, parameters: string, value: string): string {
  if (/ENCODING=QUOTED-PRINTABLE/i.test(parameters)) return unescaped(fromQuotedPrintable(value));
  if (/^(DTSTART|DTEND|DUE|COMPLETED|EXDATE|RDATE|RECURRENCE-ID|BDAY|ANNIVERSARY)$/.test(name))
    return value.replace(
      /\b(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?/g,
      (_all, y, m, d, h, min, _s, zone) =>
        h === undefined ? `${y}-${m}-${d}` : `${y}-${m}-${d} ${h}:${min}${zone ? ' UTC' : ''}`,
    );
  if (name === 'N' || name === 'ADR' || name === 'ORG' || name === 'GENDER')
    return value
      .split(/(?<!\\);/)
      .map(unescaped)
      .filter(Boolean)
      .join(', ');
  if (name === 'ATTENDEE' || name === 'ORGANIZER') {
    const person = /CN=(?:"([^"]*)"|([^;:]*))/i.exec(parameters);
    return [person?.[1] ?? person?.[2], value.replace(/^mailto:/i, '')].filter(Boolean).join(' ');
  }
  return unescaped(value);
}

function unescaped(value: string): string {
  return value.replace(/\\([nN,;\\])/g, (_all, letter: string) => (/n/i.test(letter) ? '\n' : letter)).trim();
}

function fromQuotedPrintable(value: string): string {
  const bytes = value.replace(/=([0-9A-F]{2})/gi, (_all, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
