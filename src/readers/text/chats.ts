import type { Block } from '@farthing/protocol/document';
import { Links } from './links.ts';
import type { TextContents } from './text-format.ts';

interface Message {
  readonly who: string;
  /** As it is shown; empty where it is not known. */
  readonly when: string;
  readonly text: string;
}

/**
 * What was said in a chat that a program exported: a paragraph for each message, with name and time. Telegram's, Slack's and
 * Discord's exports, and lists of messages with a role. Undefined for other data.
 */
export function chatOf(value: unknown): TextContents | undefined {
  const { messages, name, channel } = (Array.isArray(value) ? { messages: value } : (value ?? {})) as Fields;
  if (!Array.isArray(messages) || messages.length === 0) return undefined;
  const links = new Links();
  const said = messages.map((message) => messageOf(message, links));
  const isChat = said.filter((message) => message !== undefined).length * 2 > messages.length;
  if (!isChat || !said.some((message) => message?.text)) return undefined;
  const title = [name, (channel as Fields | undefined)?.name].find((one) => typeof one === 'string');
  const paragraphs = said.flatMap((message) => {
    if (!message || message.text === '') return [];
    const head = [message.who, message.when].filter((part) => part !== '').join(', ');
    return [head === '' ? message.text : `${head}: ${message.text}`];
  });
  const blocks: Block[] = [{ text: paragraphs.join('\n\n') }];
  return { ...(title && { title: title as string }), blocks: [...blocks, ...links.blocks(blocks)] };
}

/** A sentence in parts: plain ones, and ones with a look or a link (`{type: "bold", text: …}`). Undefined for another list. */
export function richText(parts: readonly unknown[]): string | undefined {
  const words = parts.map((part) => {
    if (typeof part === 'string') return part;
    const { text, type } = (part ?? {}) as Record<string, unknown>;
    return typeof text === 'string' && typeof type === 'string' ? text : undefined;
  });
  const isMixed = parts.some((part) => typeof part === 'object') && words.every((word) => word !== undefined);
  return isMixed ? words.join('') : undefined;
}

type Fields = Readonly<Record<string, unknown>>;

function messageOf(value: unknown, links: Links): Message | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { from, date, text, ts, timestamp, content, author } = value as Fields;
  if (typeof ts === 'string' && /^\d{9,10}\.\d+$/.test(ts) && typeof text === 'string')
    return { who: slackName(value as Fields), when: utc(Number(ts)), text: slackText(text, links) };
  if (typeof date === 'string' && text !== undefined && (from !== undefined || 'date_unixtime' in value)) {
    const parts = Array.isArray(text) ? text : [text];
    for (const part of parts as Fields[])
      if (typeof part?.href === 'string') links.add(wordsOf(part), part.href);
    const when = date.slice(0, 16).replace('T', ' ');
    return { who: wordsOf(from), when, text: (richText(parts) ?? parts.map(wordsOf).join('')).trim() };
  }
  if (typeof timestamp === 'string' && typeof content === 'string' && typeof author === 'object') {
    const { nickname, name, global_name, username } = (author ?? {}) as Fields;
    const who = [nickname, global_name, name, username].map(wordsOf).find((one) => one !== '') ?? '';
    return { who, when: timestamp.slice(0, 16).replace('T', ' '), text: content.trim() };
  }
  return undefined;
}

function wordsOf(value: unknown): string {
  if (typeof value === 'object' && value !== null) return wordsOf((value as Fields).text);
  return typeof value === 'string' ? value : '';
}

function slackName({ user_profile, username, user }: Fields): string {
  const { display_name, real_name } = (user_profile ?? {}) as Fields;
  return [real_name, display_name, username, user].map(wordsOf).find((name) => name !== '') ?? '';
}

function utc(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Slack's marks: people, channels, links and three signs. */
function slackText(text: string, links: Links): string {
  return text
    .replace(
      /<([@#!]?)([^<>|]{1,2000})(?:\|([^<>]{0,500}))?>/g,
      (_all, kind: string, target: string, label?: string) => {
        if (kind === '#') return `#${label || target}`;
        if (kind !== '') return `@${label || target}`;
        const address = unescaped(target);
        links.add(label ? unescaped(label) : '', address);
        return label || address;
      },
    )
    .replace(/&(?:amp|lt|gt);/g, unescaped)
    .trim();
}

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** Of Slack's export: who the users are. */
export const USERS = 'users.json';
const SLACK_DAY = /^[^/]{1,200}\/\d{4}-\d\d-\d\d\.json$/;

/**
 * Writes the names of users into the messages of a Slack export, as Slack itself does in its newer exports (`user_profile`, and
 * `<@id|name>`). They are in another file of the archive.
 * @param users gives the file of users, unpacked @returns undefined for another archive
 */
export function slackNames(
  paths: readonly string[],
  users: () => Uint8Array,
): ((path: string, bytes: Uint8Array) => Uint8Array) | undefined {
  if (!paths.includes(USERS) || !paths.some((path) => SLACK_DAY.test(path))) return undefined;
  const names = new Map<string, string>();
  for (const user of listIn(users()) ?? []) {
    const { id, name, real_name, profile } = user as Fields;
    const shown = [real_name, (profile as Fields)?.real_name, name].map(wordsOf).find((one) => one !== '');
    if (typeof id === 'string' && shown) names.set(id, shown);
  }
  return (path, bytes) => {
    const messages = SLACK_DAY.test(path) ? listIn(bytes) : undefined;
    if (!messages) return bytes;
    const named = messages.map((message) => {
      const { user, user_profile, text } = (message ?? {}) as Fields;
      const real_name = names.get(wordsOf(user));
      const mentions = wordsOf(text).replace(/<@(\w{1,20})>/g, (all, id: string) =>
        names.has(id) ? `<@${id}|${names.get(id)}>` : all,
      );
      return {
        ...(message as object),
        ...(typeof text === 'string' && { text: mentions }),
        ...(real_name && !user_profile && { user_profile: { real_name } }),
      };
    });
    return Buffer.from(JSON.stringify(named));
  };
}

/** No file of users or of a day is larger. */
const LIST_BYTES_MAX = 16 * 2 ** 20;

function listIn(bytes: Uint8Array): readonly object[] | undefined {
  if (bytes.length > LIST_BYTES_MAX) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    const isList = Array.isArray(value) && value.every((each) => typeof each === 'object' && each !== null);
    return isList ? value : undefined;
  } catch {
    return undefined;
  }
}
