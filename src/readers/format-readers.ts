import type { FileInfo, PictureSpec } from '@farthing/protocol/document';
import { FarthingError } from '@farthing/protocol/error';
import type { Preview } from '@farthing/protocol/file/preview';
import { FORMATS } from './formats.ts';
import { splitting } from './reading/blocks.ts';
import type { FormatReader, PreviewPlace, ReadContext } from './reading/format-reader.ts';
import type { Done, MemberSink, Sink, Summary } from './reading/sink.ts';
import { SourceFile } from './reading/source-file.ts';
import { recognise, unsupported } from './recognise.ts';
import { oneLine, shorten, TITLE_LENGTH_MAX } from './text/outline.ts';

type Opened = Done & { readonly fileInfo: FileInfo };

/** The readers of all formats, loaded. Whatever they throw that is no FarthingError is a fault of the reader. */
export class FormatReaders {
  readonly #readers: ReadonlyMap<string, FormatReader>;
  readonly #context: ReadContext;

  private constructor(readers: ReadonlyMap<string, FormatReader>, context: ReadContext) {
    this.#readers = readers;
    this.#context = context;
  }

  static async load(context: ReadContext): Promise<FormatReaders> {
    const readers = await Promise.all(
      FORMATS.map(async ({ mediaType, load }) => [mediaType, await (await load())(mediaType)] as const),
    );
    return new FormatReaders(new Map(readers), context);
  }

  /** True once a reader holds memory that it cannot give back. */
  get worn(): boolean {
    return [...this.#readers.values()].some(({ worn }) => worn);
  }

  /**
   * Recognises a file and opens it. Of a recording, it says only what it is. A small file is read at once, and its contents go to
   * the sink; of any other, as much is decoded as shows that it can be read.
   * @param headersOnly decodes nothing
   * @throws media_type_unsupported, file_empty, file_corrupt, file_encrypted, document_too_large.
   */
  async open(bytes: Uint8Array, name?: string, sink?: Sink, headersOnly = false): Promise<Opened> {
    const file = new SourceFile(bytes, name);
    const reader = await recognise(this.#readers.values(), file);
    const fileInfo = withTitle(await reader.open(file, this.#context));
    if (headersOnly) return { fileInfo };
    if (sink && reader.read && reader.readsOnOpen?.(file, fileInfo))
      return { fileInfo, wasRead: true, ...(await readWhole(reader, file, this.#context, sink)) };
    return { fileInfo: { ...fileInfo, ...(await reader.tryOut?.(file, this.#context)) } };
  }

  /** Gives the contents of a file to the sink. @param pictureSpec absent: as in the context @throws as open. */
  async read(
    bytes: Uint8Array,
    {
      mediaType,
      pictureSpec = this.#context.pictureSpec,
    }: { readonly mediaType: string; readonly pictureSpec?: PictureSpec },
    sink: Sink,
  ): Promise<Summary> {
    const reader = this.#readers.get(mediaType);
    if (!reader?.read) throw unsupported(mediaType);
    return readWhole(reader, new SourceFile(bytes), { ...this.#context, pictureSpec }, sink);
  }

  /** Gives the files inside a file to the sink. @throws as open. */
  async unpack(bytes: Uint8Array, mediaType: string, sink: MemberSink): Promise<void> {
    const reader = this.#readers.get(mediaType);
    if (!reader?.unpack) throw unsupported(mediaType);
    await reader.unpack(new SourceFile(bytes), this.#context, sink);
  }

  /** @throws preview_unavailable; field_invalid for a page that the file does not have; as open. */
  async preview(bytes: Uint8Array, mediaType: string, place: PreviewPlace): Promise<Preview> {
    const reader = this.#readers.get(mediaType);
    if (!reader?.preview)
      throw new FarthingError('preview_unavailable', `There is no picture of a file of type ${mediaType}.`);
    return reader.preview(new SourceFile(bytes), place, this.#context);
  }
}

/** Gives all that a reader reads to the sink, also a title that is too long for one. */
async function readWhole(
  { read }: FormatReader,
  file: SourceFile,
  context: ReadContext,
  sink: Sink,
): Promise<Summary> {
  const blocks = splitting(sink);
  const summary = (await read?.(file, context, blocks)) ?? {};
  const { title } = summary;
  if (title !== undefined && oneLine(title).length > TITLE_LENGTH_MAX) await blocks.block({ text: title });
  return withTitle(summary);
}

function withTitle<T extends { readonly title?: string }>(named: T): T {
  const { title } = named;
  return title === undefined ? named : { ...named, title: shorten(title, TITLE_LENGTH_MAX) };
}
