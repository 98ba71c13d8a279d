import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { corrupt } from '../reading/refusal.ts';
import type { RawPicture } from './bmp.ts';

/** The calls of libheif that are used (libheif/heif.h, as libheif-js binds them). A failed call gives an object with a code. */
interface Libheif {
  readonly heif_colorspace: { readonly heif_colorspace_RGB: unknown };
  readonly heif_chroma: {
    readonly heif_chroma_interleaved_RGB: unknown;
    readonly heif_chroma_interleaved_RGBA: unknown;
  };
  readonly heif_channel: { readonly heif_channel_interleaved: unknown };
  heif_context_alloc(): object | null;
  heif_context_free(context: object): void;
  heif_context_read_from_memory(context: object, bytes: Uint8Array): Failed & { readonly code: object };
  heif_js_context_get_list_of_top_level_image_IDs(context: object): (readonly number[] & Failed) | null;
  heif_js_context_get_image_handle(context: object, id: number): (object & Failed) | null;
  heif_image_handle_has_alpha_channel(handle: object): number;
  heif_image_handle_release(handle: object): void;
  heif_js_decode_image2(handle: object, colours: unknown, chroma: unknown): (Decoded & Failed) | null;
  heif_image_release(image: object): void;
}

interface Failed {
  readonly code?: unknown;
}

interface Decoded {
  readonly image: object;
  readonly channels: readonly Channel[];
}

/** Rows may be longer than the picture is wide. */
interface Channel {
  readonly id: unknown;
  readonly width: number;
  readonly height: number;
  readonly stride: number;
  readonly data: Uint8Array;
}

const require = createRequire(import.meta.url);
type Create = (options: { readonly wasmBinary: Uint8Array }) => Promise<Libheif> | Libheif;

// Read when the process starts: once it is confined it reads no packages. Compiled when a file needs it.
const create = require('libheif-js/libheif-wasm/libheif.js') as Create;
const wasmBinary = readFileSync(require.resolve('libheif-js/libheif-wasm/libheif.wasm'));
let loaded: Promise<Libheif> | undefined;

/** libheif as WebAssembly. libvips' own has no decoder of HEVC. */
export function loadLibheif(): Promise<Libheif> {
  loaded ??= Promise.resolve(create({ wasmBinary }));
  return loaded;
}

/** A picture of a HEIC file, as it is to be shown: turned and cut as the file says. @param page from 0. @throws file_corrupt */
export function decodeHeic(libheif: Libheif, bytes: Uint8Array, page: number): RawPicture {
  const context = libheif.heif_context_alloc();
  if (!context) throw corrupt('there is no memory to decode it');
  try {
    libheif.heif_context_read_from_memory(context, bytes);
    const ids = libheif.heif_js_context_get_list_of_top_level_image_IDs(context);
    const id = ids && !ids.code ? ids[page] : undefined;
    if (id === undefined) throw corrupt(`it has no picture ${page + 1}`);
    const handle = libheif.heif_js_context_get_image_handle(context, id);
    if (!handle || handle.code) throw corrupt(`picture ${page + 1} of it is damaged`);
    try {
      return pixelsOf(libheif, handle);
    } finally {
      libheif.heif_image_handle_release(handle);
    }
  } finally {
    libheif.heif_context_free(context);
  }
}

function pixelsOf(libheif: Libheif, handle: object): RawPicture {
  const { heif_chroma_interleaved_RGB: rgb, heif_chroma_interleaved_RGBA: rgba } = libheif.heif_chroma;
  const channels = libheif.heif_image_handle_has_alpha_channel(handle) ? 4 : 3;
  const colours = libheif.heif_colorspace.heif_colorspace_RGB;
  const decoded = libheif.heif_js_decode_image2(handle, colours, channels === 4 ? rgba : rgb);
  if (!decoded || decoded.code) throw corrupt('its picture cannot be decoded');
  try {
    const { heif_channel_interleaved: interleaved } = libheif.heif_channel;
    const plane = decoded.channels.find(({ id }) => id === interleaved);
    if (!plane) throw corrupt('its picture has no colours');
    const { width, height, stride, data } = plane;
    const row = width * channels;
    if (stride === row) return { data: data.slice(0, row * height), width, height, channels };
    const pixels = new Uint8Array(row * height);
    for (let y = 0; y < height; y++) pixels.set(data.subarray(y * stride, y * stride + row), y * row);
    return { data: pixels, width, height, channels };
  } finally {
    libheif.heif_image_release(decoded.image);
  }
}
