import type { Failure } from '../../model/files/overview.ts';
import { remove, retry } from '../../model/files/upload.ts';
import { FileRow } from './file-row.tsx';

/** Failed files by reason: retried or removed together. */
export function Failures({ failures }: { failures: readonly Failure[] }) {
  return (
    <>
      {failures.map(({ why, files }) => {
        const again = files.filter(({ source }) => source);
        return (
          <details class="failure" key={why} open={files.length === 1}>
            <summary>
              <b>{files.length === 1 ? '1 file' : `${files.length} files`}</b> <span class="why">{why}</span>
            </summary>
            <ul>
              {files.map((file) => (
                <FileRow key={file.key} file={file} />
              ))}
            </ul>
            <div class="buttons">
              {again.length > 0 && (
                <button type="button" onClick={() => retry(again)}>
                  {again.length === 1 ? 'Try again' : `Try ${again.length} again`}
                </button>
              )}
              <button type="button" onClick={() => void remove(files)}>
                {files.length === 1 ? 'Remove' : `Remove ${files.length}`}
              </button>
            </div>
          </details>
        );
      })}
    </>
  );
}
