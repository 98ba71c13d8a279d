import { useEffect, useState } from 'preact/hooks';
import { carriesFiles, droppedFiles } from '../../model/files/dropped.ts';
import { addFiles } from '../../model/files/upload.ts';
import { session } from '../../model/session.ts';
import { useStore } from '../../model/store.ts';

/** Takes files that are dropped anywhere on the page, and says so while they are dragged. */
export function DropAnywhere() {
  const { opened } = useStore(session);
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const over = (event: DragEvent) => {
      if (!carriesFiles(event.dataTransfer)) return;
      event.preventDefault();
      setOver(true);
    };
    // Leaving the window has no element that is entered.
    const leave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const drop = (event: DragEvent) => {
      setOver(false);
      if (event.defaultPrevented || !carriesFiles(event.dataTransfer)) return;
      event.preventDefault();
      void droppedFiles(event.dataTransfer).then(addFiles);
    };
    document.addEventListener('dragover', over);
    document.addEventListener('dragleave', leave);
    document.addEventListener('drop', drop);
    return () => {
      document.removeEventListener('dragover', over);
      document.removeEventListener('dragleave', leave);
      document.removeEventListener('drop', drop);
    };
  }, []);
  if (!isOver) return null;
  return (
    <div class="drop-veil" aria-hidden="true">
      <p>
        Drop to add the files
        {opened && <span class="quiet">On the search field: search with a picture</span>}
      </p>
    </div>
  );
}
