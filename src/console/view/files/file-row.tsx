import { memo } from 'preact/compat';
import { sayNotRead } from '../../../domain/file/not-read.ts';
import { formatBytes } from '../../model/figures/format.ts';
import { isFailed } from '../../model/files/overview.ts';
import { remove } from '../../model/files/upload.ts';
import type { FileEntry, FileState } from '../../model/state/entry.ts';
import { CloseIcon } from '../controls/icons.tsx';

/** The stages of a job, in order; a dot for each. */
const STAGES: readonly FileState[] = ['accepted', 'extracting', 'encoding', 'committing'];
const WORDS: Readonly<Record<FileState, string>> = {
  pending: 'being read',
  waiting: 'waiting',
  sending: 'uploading',
  accepted: 'accepted',
  extracting: 'reading',
  encoding: 'encoding',
  committing: 'writing',
  searchable: 'searchable',
  duplicate: 'already there',
  failed: 'failed',
  cancelled: 'cancelled',
  refused: 'refused',
};

/** One file: its name, what it is or how far it is, and a button that removes it. */
export const FileRow = memo(({ file }: { file: FileEntry }) => {
  const { name, bytes, state } = file;
  const reached = STAGES.indexOf(state) + 1;
  return (
    <li class="file" data-bad={isFailed(file)} data-state={state}>
      <span class="file-name" title={name}>
        {name}
      </span>
      <button
        type="button"
        class="plain remove"
        aria-label={`Remove ${name}`}
        onClick={() => void remove([file])}
      >
        <CloseIcon />
      </button>
      <span class="file-state">
        {sayState(file)}
        <span> · {formatBytes(bytes)}</span>
      </span>
      {(file.notRead ?? []).map((part) => (
        <span key={`${part.what} ${part.why}`} class="file-unread">
          not read: {sayNotRead(part)}
        </span>
      ))}
      {(reached > 0 || state === 'sending') && (
        <span class="stages" aria-hidden="true">
          {STAGES.map((stage, index) => (
            <i key={stage} data-on={index < reached} data-now={index === reached - 1} />
          ))}
        </span>
      )}
    </li>
  );
});

function sayState({ state, progress, segments, members, membersFailed = 0 }: FileEntry): string {
  if (state === 'searchable' && members !== undefined)
    return `${members} files inside${membersFailed === 0 ? '' : `, ${membersFailed} failed`}`;
  if (state === 'searchable' && segments !== undefined)
    return `${segments} ${segments === 1 ? 'segment' : 'segments'}`;
  const isRunning = state === 'sending' || STAGES.includes(state);
  return isRunning && progress > 0 ? `${WORDS[state]} ${Math.round(progress * 100)} %` : WORDS[state];
}
