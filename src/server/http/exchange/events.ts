import type { HttpResponse } from 'uWebSockets.js';
import { shownJson } from './json-text.ts';
import type { EventsReply } from './reply.ts';

export const EVENT_HEADERS = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' } as const;

/** uWebSockets.js closes connections that are silent for ten seconds, and proxies do so too. */
const SILENCE_MS_MAX = 5_000;
/**
 * Writes server-sent events (HTML, 9.2.6) until they end or the client leaves. The head must have been written. Events are skipped
 * while the client does not read: each event holds the whole state.
 */
export async function writeEvents(
  response: HttpResponse,
  events: EventsReply['events'],
  gone: AbortSignal,
): Promise<void> {
  let stalled = false;
  response.onWritable(() => {
    stalled = false;
    return true;
  });
  const write = (text: string): void => {
    if (gone.aborted || stalled) return;
    response.cork(() => {
      stalled = !response.write(text);
    });
  };
  const heartbeat = setInterval(() => write(': here\n\n'), SILENCE_MS_MAX);
  let id = 0;
  try {
    for await (const { event, data } of events) {
      if (gone.aborted) return;
      write(`id: ${++id}\nevent: ${event}\ndata: ${shownJson(data)}\n\n`);
    }
  } finally {
    clearInterval(heartbeat);
  }
}
