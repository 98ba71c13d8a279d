/** Parts of a file that a reader may leave unread. A closed list: clients may switch on it. */
export const UNREAD_PARTS = {
  annotations: 'notes and marks on a page',
  attachments: 'files inside',
  characters: 'characters whose letter the file does not say',
  charset: 'the character set of the text',
  charts: 'charts and diagrams',
  comments: 'comments of readers',
  drawings: 'drawings and text boxes',
  encoded_data: 'data written as letters, such as base64',
  equations: 'equations',
  footnotes: 'footnotes and endnotes',
  forms: 'form fields and their values',
  formulas: 'formulas',
  frames: 'frames of a film or animation',
  headers: 'headers and footers of pages',
  hidden_text: 'text that readers do not see',
  macros: 'macros and scripts',
  markup: 'damaged markup',
  members: 'files in an archive',
  navigation: 'menus and links around the text',
  pages: 'pages',
  pictures: 'pictures inside',
  revisions: 'deleted or earlier text',
  sound: 'a sound track',
  speech: 'what is said',
  text: 'text',
} as const;
export type UnreadPart = keyof typeof UNREAD_PARTS;

/** Why. A closed list, too. */
export const UNREAD_REASONS = {
  damaged: 'the file is damaged there',
  encrypted: 'a password is needed',
  guessed: 'it was guessed: the file does not say it',
  hidden: 'the file hides it',
  left_out: 'it is no content',
  limit: 'a limit of this server was reached',
  no_text: 'no words could be recognised',
  no_value: 'the file has no value for it',
  refused: 'it was refused; its own item says why',
  time_limit: 'it took too long',
  uncertain: 'it was recognised, and may be wrong',
  unsupported: 'this server does not read it',
} as const;
export type UnreadReason = keyof typeof UNREAD_REASONS;

/** The unread parts of a file, and why; absent count: unknown, or not countable. */
export interface NotRead {
  readonly what: UnreadPart;
  readonly count?: number;
  readonly why: UnreadReason;
  /** Where it is in a recording: seconds from and to. */
  readonly times?: readonly (readonly number[])[];
}

/** Adds up what was not read: one entry for each part and reason, in the order of coming. */
export function addNotRead(known: readonly NotRead[], ...more: readonly NotRead[]): readonly NotRead[] {
  const sum = [...known];
  for (const next of more) {
    const { what, why, count, times } = next;
    const at = sum.findIndex((entry) => entry.what === what && entry.why === why);
    const { count: before, times: known = [] } = sum[at] ?? {};
    if (at < 0) sum.push(next);
    else if (before !== undefined && count !== undefined)
      sum[at] = { what, count: before + count, why, ...(times && { times: [...known, ...times] }) };
  }
  return sum;
}

/** For people: "3 charts and diagrams: this server does not read it". */
export function sayNotRead({ what, count, why }: NotRead): string {
  return `${count === undefined ? '' : `${count} × `}${UNREAD_PARTS[what]} (${UNREAD_REASONS[why]})`;
}
