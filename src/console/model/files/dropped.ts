/** Most files that one drop adds; what a person means to add is less. */
const FILES_MAX = 10_000;

/** The files of a drop, those of its folders included. Call it within the event: later it holds nothing. */
export async function droppedFiles(transfer: DataTransfer | null): Promise<File[]> {
  const entries = [...(transfer?.items ?? [])].map((item) => item.webkitGetAsEntry?.() ?? item.getAsFile());
  const files: File[] = [];
  for (const entry of entries) {
    if (entry instanceof File) files.push(entry);
    else if (entry) await collect(entry, files);
  }
  return files;
}

/** Paths of dropped files: a `File` of a drop knows its name alone. */
const paths = new WeakMap<File, string>();

/** Where a file lay in the folder that was dropped or chosen; undefined for one that came by itself. */
export function pathOf(file: File): string | undefined {
  return paths.get(file) ?? (file.webkitRelativePath || undefined);
}

async function collect(entry: FileSystemEntry, files: File[]): Promise<void> {
  if (files.length >= FILES_MAX || entry.name.startsWith('.')) return;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    const path = entry.fullPath.replace(/^\//, '');
    if (path !== file.name) paths.set(file, path);
    files.push(file);
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  // A folder is read in pieces; the last is empty.
  for (;;) {
    const piece = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (piece.length === 0) return;
    for (const inside of piece) await collect(inside, files);
  }
}

/** Whether a drag carries files, as far as a page may know before the drop. */
export function carriesFiles(transfer: DataTransfer | null): boolean {
  return transfer?.types.includes('Files') ?? false;
}
