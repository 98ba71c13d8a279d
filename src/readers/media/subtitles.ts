import {
  AV_CODEC_ID_ASS,
  AV_CODEC_ID_MOV_TEXT,
  AV_CODEC_ID_SSA,
  AV_CODEC_ID_SUBRIP,
  AV_CODEC_ID_TEXT,
  AV_CODEC_ID_WEBVTT,
} from 'node-av/constants';
import { withoutControls } from '../text/charset.ts';

/** Fields before the text in a line of ASS as Matroska keeps it. */
const ASS_FIELDS = 8;

/** The text of a cue, without markup; empty for subtitles that are pictures. */
export function cueText(codec: number, data: Uint8Array): string {
  if (codec === AV_CODEC_ID_MOV_TEXT) {
    const length = data.length < 2 ? 0 : (data[0]! << 8) | data[1]!;
    return plain(data.subarray(2, 2 + length));
  }
  if (codec === AV_CODEC_ID_ASS || codec === AV_CODEC_ID_SSA) {
    const fields = new TextDecoder().decode(data).split(',');
    return clean(
      fields
        .slice(ASS_FIELDS)
        .join(',')
        .replace(/\\[Nn]/g, '\n'),
    );
  }
  return [AV_CODEC_ID_SUBRIP, AV_CODEC_ID_TEXT, AV_CODEC_ID_WEBVTT].some((known) => known === codec)
    ? plain(data)
    : '';
}

function plain(data: Uint8Array): string {
  return clean(new TextDecoder().decode(data));
}

function clean(text: string): string {
  return withoutControls(text.replace(/\{\\[^}]{0,200}\}/g, '').replace(/<[^<>\n]{0,200}>/g, '')).trim();
}
