import { UsageError } from './io.ts';

/** Ways in which terminals take pictures in the stream of their text. */
export const PROTOCOLS = ['kitty', 'iterm', 'sixel'] as const;
export type PictureProtocol = (typeof PROTOCOLS)[number];
/** `auto`: what the terminal can, and none where there is no terminal. */
export type PictureMode = PictureProtocol | 'auto' | 'none';

/** What the terminal is asked: nothing where nobody would answer. */
export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Columns of the standard output's terminal; undefined when it is none. */
  readonly outColumns: number | undefined;
  /** Writes to the terminal and gives back what it answers, as far as it came in time. */
  query(question: string, isWhole: (answer: string) => boolean): Promise<string> | undefined;
}

/** @throws UsageError */
export function pictureModeOf(text: string): PictureMode {
  const mode = ['auto', 'none', ...PROTOCOLS].find((one) => one === text);
  if (mode === undefined) throw new UsageError(`--pictures is auto, none, ${PROTOCOLS.join(', ')}.`);
  return mode as PictureMode;
}

/** Undefined: no pictures. A protocol that is named is taken at its word, also in a pipe. */
export async function chooseProtocol(
  mode: PictureMode,
  terminal: Terminal,
): Promise<PictureProtocol | undefined> {
  if (mode === 'none') return undefined;
  if (mode !== 'auto') return mode;
  if (terminal.outColumns === undefined || terminal.environment.TERM === 'dumb') return undefined;
  return protocolOfEnvironment(terminal.environment) ?? (await protocolOfAnswer(terminal));
}

const BY_PROGRAM: Readonly<Record<string, PictureProtocol>> = {
  'iTerm.app': 'iterm',
  WezTerm: 'iterm',
  mintty: 'iterm',
  ghostty: 'kitty',
};

/** What the terminal's own variables tell. Inside a multiplexer they tell of the terminal around it, so nothing. */
export function protocolOfEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): PictureProtocol | undefined {
  const { TERM = '', TERM_PROGRAM = '', LC_TERMINAL, KITTY_WINDOW_ID, TMUX, STY } = environment;
  if (TMUX !== undefined || STY !== undefined) return undefined;
  if (KITTY_WINDOW_ID !== undefined || /^xterm-(kitty|ghostty)$/.test(TERM)) return 'kitty';
  return BY_PROGRAM[TERM_PROGRAM] ?? (LC_TERMINAL === 'iTerm2' ? 'iterm' : undefined);
}

/** A picture of one pixel that kitty's protocol only asks about, and then what every terminal answers: its attributes (DA1). */
const QUESTION = '\u001b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u001b\\\u001b[c';
const ESCAPE = '\u001b';
const ATTRIBUTES = new RegExp(`${ESCAPE}\\[\\?([\\d;]+)c`);
/** DA1: the terminal shows sixel graphics. */
const SIXEL = '4';

async function protocolOfAnswer(terminal: Terminal): Promise<PictureProtocol | undefined> {
  const answer = await terminal.query(QUESTION, (text) => ATTRIBUTES.test(text));
  if (answer === undefined) return undefined;
  if (answer.includes('\u001b_Gi=31;OK')) return 'kitty';
  return ATTRIBUTES.exec(answer)?.[1]?.split(';').slice(1).includes(SIXEL) ? 'sixel' : undefined;
}

/** Lines of text that a picture is as high as. */
const ROWS = 10;
/** Of a line, about; sixels are pixels. */
const ROW_PIXELS = 20;
/** kitty takes no longer pieces. */
const PIECE = 4096;
const SIXEL_COLOURS = 256;

/** A WebP picture as what the terminal shows, ten lines high; the cursor is below it afterwards. */
export async function terminalPicture(webp: Uint8Array, protocol: PictureProtocol): Promise<string> {
  // Loaded when there is a picture: most commands have none.
  const { default: sharp } = await import('sharp');
  // The bytes come from a server, not from this machine: no other decoder than this one sees them.
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: ['VipsForeignLoadWebpBuffer'] });
  const small = sharp(webp).resize({ height: ROWS * ROW_PIXELS, withoutEnlargement: true });
  if (protocol === 'sixel') {
    const { data, info } = await small.ensureAlpha().raw().toBuffer({ resolveWithObject: true });
    const { image2sixel } = await import('sixel');
    return `${image2sixel(data, info.width, info.height, SIXEL_COLOURS, 0)}\n`;
  }
  const png = await small.png().toBuffer();
  return `${protocol === 'kitty' ? kitty(png) : iterm(png)}\n`;
}

/** https://sw.kovidgoyal.net/kitty/graphics-protocol/: PNG, shown at once, no answer. */
function kitty(png: Buffer): string {
  const pieces = png.toString('base64').match(new RegExp(`.{1,${PIECE}}`, 'g')) ?? [];
  return pieces
    .map((piece, index) => {
      const more = index < pieces.length - 1 ? 1 : 0;
      return `\u001b_G${index === 0 ? `f=100,a=T,q=2,r=${ROWS},` : ''}m=${more};${piece}\u001b\\`;
    })
    .join('');
}

/** https://iterm2.com/documentation-images.html */
function iterm(png: Buffer): string {
  const facts = `inline=1;size=${png.length};height=${ROWS};preserveAspectRatio=1`;
  return `\u001b]1337;File=${facts}:${png.toString('base64')}\u0007`;
}
