import { addNotRead, type NotRead } from '@farthing/protocol/file/not-read';
import { isData } from './encoded-data.ts';
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
  let inZone = false;
  const flush = (): void => {
    if (fields.length > 0) paragraphs.push(fields.join('\n'));
    fields = [];
  };
  for (const line of lines) {
    const { name, parameters, value } = parsedLine(line);
    if (name === 'BEGIN' || name === 'END') flush();
    // When clocks are changed: each event says its own zone.
    if (/^VTIMEZONE$/i.test(value.trim()) && name === 'BEGIN') inZone = true;
    if (/^VTIMEZONE$/i.test(value.trim()) && name === 'END') inZone = false;
    if (inZone) continue;
    if (name === 'X-WR-CALNAME') title = unescaped(value);
    if (TECHNICAL.test(name)) continue;
    if (/(?:ENCODING=B(?:ASE64)?|;BASE64)\b/i.test(parameters) || isData(value)) {
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

/** RFC 5545, 3.1; a line in quoted-printable (vCard 2.1) goes on behind one that ends with "=". */
function unfolded(text: string): readonly string[] {
  const lines: string[] = [];
  let goesOn = false;
  for (const line of text.replace(/\n[ \t]/g, '').split('\n')) {
    if (goesOn) lines[lines.length - 1] = `${lines.at(-1)!.slice(0, -1)}${line}`;
    else lines.push(line);
    goesOn = line.endsWith('=') && QUOTED.test(lines.at(-1)!.slice(0, 300).split(':')[0]!);
  }
  return lines.filter((line) => line.trim() !== '');
}

/** Old cards leave the parameter's name out. */
const QUOTED = /;(?:ENCODING=)?QUOTED-PRINTABLE\b/i;

/** A colon in quotes does not end the name. */
function parsedLine(line: string): ContentLine {
  const match = /^(?:[\w-]{1,60}\.)?([\w-]{1,60})((?:;(?:"[^"]{0,500}"|[^":]){0,1000})?):(.*)$/.exec(line);
  if (!match) return { name: 'NOTE', parameters: '', value: line };
  return { name: match[1]!.toUpperCase(), parameters: match[2]!, value: match[3]! };
}

function readable(name: string, parameters: string, written: string): string {
  const charset = /CHARSET="?([\w.:-]{1,40})/i.exec(parameters)?.[1];
  const value = QUOTED.test(parameters) ? fromQuotedPrintable(written, charset) : written;
  const zone = /TZID="?([^";:]{1,100})/i.exec(parameters)?.[1];
  const inZone = zone === undefined ? '' : ` (${zone})`;
  if (/^(DTSTART|DTEND|DUE|COMPLETED|EXDATE|RDATE|RECURRENCE-ID|BDAY|ANNIVERSARY)$/.test(name))
    return value.replace(
      /\b(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?/g,
      (_all, y, m, d, h, min, _s, utc) =>
        h === undefined ? `${y}-${m}-${d}` : `${y}-${m}-${d} ${h}:${min}${utc ? ' UTC' : inZone}`,
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

function fromQuotedPrintable(value: string, charset = 'utf-8'): string {
  const bytes = value.replace(/=([0-9A-F]{2})/gi, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  try {
    return new TextDecoder(charset).decode(Buffer.from(bytes, 'latin1'));
  } catch {
    return Buffer.from(bytes, 'latin1').toString('utf8');
  }
}
