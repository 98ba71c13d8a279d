import type { Hit } from '../client/index.ts';
import { hasPicture } from '../client/preview.ts';
import type { Access } from './access.ts';
import type { Io } from './io.ts';
import { place } from './table.ts';
import { chooseProtocol, type PictureMode, terminalPicture } from './terminal-pictures.ts';

/** More would push the table off the screen. */
const PICTURES_MAX = 4;

/** Shows the first pictures among the hits. Outside a workspace each is paid for: there they must be asked for by name. */
export async function showPictures(
  { workspace, client }: Access,
  hits: readonly Hit[],
  mode: PictureMode,
  io: Io,
): Promise<void> {
  if (!workspace && mode === 'auto') return;
  const pictured = [...hits.entries()].filter(([, hit]) => hasPicture(hit)).slice(0, PICTURES_MAX);
  if (pictured.length === 0) return;
  const protocol = await chooseProtocol(mode, io);
  if (!protocol) return;
  for (const [index, { item, locator }] of pictured) {
    const options = { signal: io.signal };
    const preview = await (workspace ?? client).preview(item.id, locator, options).catch((error: unknown) => {
      // What cannot be shown is no reason to fail a search that found it; a payment that was refused is.
      if ((error as { status?: number }).status === 402 || io.signal.aborted) throw error;
      return undefined;
    });
    if (!preview) continue;
    const picture = await terminalPicture(new Uint8Array(await preview.arrayBuffer()), protocol);
    const name = item.name.replace(/[\p{Cc}\p{Cf}]/gu, '');
    io.write(`${index + 1}  ${[place(locator), name].filter(Boolean).join('  ')}\n${picture}`);
  }
}
