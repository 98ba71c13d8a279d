import { type Relationship, relationships, targetsOf } from '../archive/relationships.ts';
import type { Zip } from '../archive/zip.ts';
import { shorten } from '../text/outline.ts';
import { walkXml } from '../text/xml.ts';
import type { Report } from './office-content.ts';

/** Notes and comments of a sheet, one a line, with their cells. Newer programs keep a copy in the old form: it is left out. */
export function sheetComments(
  zip: Zip,
  related: readonly Relationship[],
  main: string,
  report: Report,
): string[] {
  const threaded = targetsOf(related, 'threadedComment').flatMap((part) => {
    const people = peopleOf(zip, main);
    return commentsIn(zip.text(part), report, (id) => people.get(id));
  });
  const cells = new Set(threaded.map(({ cell }) => cell));
  const notes = targetsOf(related, 'comments').flatMap((part) => commentsIn(zip.text(part), report));
  return [...threaded, ...notes.filter(({ cell }) => !cells.has(cell))].map(({ cell, author, text }) => {
    const by = author === '' ? '' : ` by ${author}`;
    return `Comment on ${cell}${by}: ${text}`;
  });
}

interface Comment {
  cell: string;
  author: string;
  text: string;
}

function commentsIn(
  source: string | undefined,
  report: Report,
  personOf: (id: string) => string | undefined = () => undefined,
): Comment[] {
  const authors: string[] = [];
  const comments: Comment[] = [];
  let current: Comment | undefined;
  let into: 'author' | 'text' | undefined;
  if (source === undefined) return [];
  walkXml(source, {
    skips: (name) => name === 'rPh',
    open: (name, { ref = '', authorId, personId }) => {
      into = undefined;
      if (name === 'author') {
        authors.push('');
        into = 'author';
      } else if (name === 'comment' || name === 'threadedComment') {
        const author = personId === undefined ? authors[Number(authorId)] : personOf(personId);
        current = { cell: ref, author: shorten(author ?? '', 100, report), text: '' };
        comments.push(current);
      } else if (name === 't' || (name === 'text' && current)) into = 'text';
    },
    text: (text) => {
      if (into === 'author') authors.push(`${authors.pop()}${text}`);
      else if (into === 'text' && current) current.text += text;
    },
    close: () => {
      into = undefined;
    },
  });
  return comments
    .map((comment) => ({ ...comment, text: comment.text.replace(/\s+/g, ' ').trim() }))
    .filter(({ text }) => text !== '');
}

function peopleOf(zip: Zip, main: string): Map<string, string> {
  const people = new Map<string, string>();
  for (const part of targetsOf(relationships(zip, main), 'person'))
    walkXml(zip.text(part) ?? '<x/>', {
      open: (name, { id, displayName }) => {
        if (name === 'person' && id && displayName) people.set(id, displayName);
      },
    });
  return people;
}
