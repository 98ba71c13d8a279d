import { useMemo, useRef, useState } from 'preact/hooks';
import { type Overview, overviewOf } from '../../model/files/overview.ts';
import { addFiles } from '../../model/files/upload.ts';
import type { FileEntry } from '../../model/state/entry.ts';
import { session } from '../../model/state/session.ts';
import { useStore } from '../../model/state/store.ts';
import { Fold } from '../controls/fold.tsx';
import { UploadIcon } from '../controls/icons.tsx';
import { Failures } from './failures.tsx';
import { FileRow } from './file-row.tsx';

/** Rows drawn of each kind before a person asks for the rest. */
const DRAWN = 50;
/** A filter is offered from this many files on. */
const FILTERED_MIN = 8;

/** The workspace's files: how far all of them are, what is being read, what failed, what is there. */
export function Files() {
  const { files, filesUnlisted } = useStore(session);
  const [wanted, setWanted] = useState('');
  const overview = useMemo(() => overviewOf(files), [files]);
  const shown = useMemo(() => overviewOf(files.filter(isNamed(wanted))), [files, wanted]);
  return (
    <Fold title="Files" brief={sayBrief(overview)} class="files">
      <h2>Files</h2>
      <ChooseFiles label={files.length === 0 ? 'Choose files, or drop them anywhere' : 'Add files'} />
      {files.length > 0 && <Total overview={overview} />}
      {files.length >= FILTERED_MIN && (
        <input
          type="search"
          class="file-filter"
          aria-label="Filter files by name"
          placeholder="Filter by name"
          value={wanted}
          onInput={({ currentTarget }) => setWanted(currentTarget.value)}
        />
      )}
      <Failures failures={shown.failures} />
      {files.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
        <section class="file-scroller" tabIndex={0} aria-label="Added files">
          <Rows files={shown.active} />
          <Rows files={shown.waiting} />
          <Rows files={shown.settled} />
          {wanted !== '' && shown.total === 0 && <p class="quiet">No file has this in its name.</p>}
          {filesUnlisted > 0 && <p class="quiet">{filesUnlisted} older files are not listed here.</p>}
        </section>
      )}
    </Fold>
  );
}

function Rows({ files }: { files: readonly FileEntry[] }) {
  const [isWhole, setWhole] = useState(false);
  const left = files.length - DRAWN;
  return (
    <>
      <ul>
        {(isWhole ? files : files.slice(0, DRAWN)).map((file) => (
          <FileRow key={file.key} file={file} />
        ))}
      </ul>
      {!isWhole && left > 0 && (
        <button type="button" class="plain" onClick={() => setWhole(true)}>
          {left} more
        </button>
      )}
    </>
  );
}

/** All files together. */
function Total({ overview }: { overview: Overview }) {
  const { total, done, progress } = overview;
  if (done === total) return <p class="quiet file-total">{sayBrief(overview)}</p>;
  return (
    <p class="file-total">
      <progress max={1} value={progress} aria-label="Files read" />
      <span class="quiet figure">
        {done} of {total}
      </span>
    </p>
  );
}

function sayBrief({ total, done, settled, failures }: Overview): string {
  if (total === 0) return 'none yet';
  if (done < total) return `${done} of ${total} done`;
  const failed = failures.reduce((sum, { files }) => sum + files.length, 0);
  return `${settled.length} searchable${failed === 0 ? '' : `, ${failed} failed`}`;
}

function isNamed(wanted: string): (file: FileEntry) => boolean {
  const part = wanted.trim().toLowerCase();
  return ({ name }) => part === '' || name.toLowerCase().includes(part);
}

/** Opens the browser's chooser; what is chosen is added. */
function ChooseFiles({ label }: { label: string }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" class="drop" onClick={() => input.current?.click()}>
        <UploadIcon /> {label}
      </button>
      <input
        ref={input}
        class="unseen"
        type="file"
        multiple
        tabIndex={-1}
        aria-label="Files to add"
        onChange={({ currentTarget }) => {
          addFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = '';
        }}
      />
    </>
  );
}
