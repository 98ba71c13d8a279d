import { gunzipSync } from 'node:zlib';

/** CLIP's vocabulary as published (`bpe_simple_vocab_16e6.txt.gz`) as a `tokenizer.json`. */
export function clipTokenizer(published: Uint8Array): string {
  const lines = gunzipSync(published).toString('utf8').split('\n');
  const merges = lines.slice(1, 49_152 - 256 - 2 + 1);
  const letters = byteLetters();
  const words = [
    ...letters,
    ...letters.map((letter) => `${letter}</w>`),
    ...merges.map((merge) => merge.replace(' ', '')),
  ];
  const [start, end] = ['<|startoftext|>', '<|endoftext|>'];
  const vocabulary = Object.fromEntries([...words, start, end].map((word, id) => [word, id]));
  const special = (content: string) => ({
    id: vocabulary[content],
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: true,
    special: true,
  });
  const pattern = "'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+";
  return JSON.stringify({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [special(start), special(end)],
    normalizer: {
      type: 'Sequence',
      normalizers: [
        { type: 'NFC' },
        { type: 'Replace', pattern: { Regex: '\\s+' }, content: ' ' },
        { type: 'Lowercase' },
      ],
    },
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: pattern }, behavior: 'Removed', invert: true },
        { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
      ],
    },
    post_processor: {
      type: 'RobertaProcessing',
      sep: [end, vocabulary[end]],
      cls: [start, vocabulary[start]],
      trim_offsets: false,
      add_prefix_space: false,
    },
    decoder: null,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: end,
      continuing_subword_prefix: '',
      end_of_word_suffix: '</w>',
      fuse_unk: false,
      vocab: vocabulary,
      merges,
    },
  });
}

/** The letter that stands for each byte: GPT-2's `bytes_to_unicode`. */
function byteLetters(): string[] {
  const printable = [...range(33, 126), ...range(161, 172), ...range(174, 255)];
  const others = [...range(0, 255)].filter((byte) => !printable.includes(byte));
  return [
    ...printable.map((byte) => String.fromCharCode(byte)),
    ...others.map((_, index) => String.fromCharCode(256 + index)),
  ];
}

function* range(from: number, to: number): Generator<number> {
  for (let value = from; value <= to; value++) yield value;
}
