import { useEffect } from 'preact/hooks';

type TakePicture = (files: FileList | null | undefined) => boolean;

/** A pasted picture becomes the query; “/” focuses the field. */
export function useShortcuts(
  field: { readonly current: HTMLInputElement | null },
  takePicture: TakePicture,
): void {
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      if (takePicture(event.clipboardData?.files)) event.preventDefault();
    };
    const press = (event: KeyboardEvent) => {
      const typing = (event.target as HTMLElement).closest('input, textarea, select, dialog');
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || typing) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    document.addEventListener('paste', paste);
    document.addEventListener('keydown', press);
    return () => {
      document.removeEventListener('paste', paste);
      document.removeEventListener('keydown', press);
    };
  }, [field, takePicture]);
}
