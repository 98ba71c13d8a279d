import type { ComponentChildren } from 'preact';

/** Icons of 20 × 20 in the colour of the text. They are beside words, so screen readers skip them. */
function Drawing({ children }: { children: ComponentChildren }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 20 20"
      width="20"
      height="20"
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  );
}

export const SearchIcon = () => (
  <Drawing>
    <circle cx="8.7" cy="8.7" r="5.2" />
    <path d="m12.6 12.6 4.2 4.2" />
  </Drawing>
);
export const PictureIcon = () => (
  <Drawing>
    <rect x="2.8" y="3.8" width="14.4" height="12.4" rx="2" />
    <circle cx="7" cy="8" r="1.4" />
    <path d="m3.4 14.6 4-3.6 2.8 2.4 3.4-3.8 3.4 3.6" />
  </Drawing>
);
export const PageIcon = () => (
  <Drawing>
    <path d="M5 2.8h6.6L15 6.2v11H5ZM11.4 3v3.4h3.4M7.6 9.8h4.8M7.6 12.8h4.8" />
  </Drawing>
);
export const FilmIcon = () => (
  <Drawing>
    <rect x="2.8" y="4.2" width="14.4" height="11.6" rx="2" />
    <path d="m8.4 7.4 4.4 2.6-4.4 2.6Z" />
  </Drawing>
);
export const UploadIcon = () => (
  <Drawing>
    <path d="M10 13V3.8M6.4 7 10 3.4 13.6 7M3.4 13v2.2a1.4 1.4 0 0 0 1.4 1.4h10.4a1.4 1.4 0 0 0 1.4-1.4V13" />
  </Drawing>
);
export const BackIcon = () => (
  <Drawing>
    <path d="M12 4.6 6.6 10l5.4 5.4" />
  </Drawing>
);
export const NextIcon = () => (
  <Drawing>
    <path d="M8 4.6 13.4 10 8 15.4" />
  </Drawing>
);
export const CloseIcon = () => (
  <Drawing>
    <path d="m5 5 10 10M15 5 5 15" />
  </Drawing>
);
export const SaveIcon = () => (
  <Drawing>
    <path d="M10 3.4v8.8M6.4 8.8 10 12.4l3.6-3.6M3.6 16.4h12.8" />
  </Drawing>
);
export const LikeIcon = () => (
  <Drawing>
    <rect x="2.8" y="2.8" width="9" height="9" rx="1.6" />
    <path d="M15 6.6h.8A1.6 1.6 0 0 1 17.4 8v7.8a1.6 1.6 0 0 1-1.6 1.6H8a1.6 1.6 0 0 1-1.4-1.6V15" />
  </Drawing>
);
export const ThemeIcon = () => (
  <Drawing>
    <circle cx="10" cy="10" r="6.6" />
    <path d="M10 3.4v13.2A6.6 6.6 0 0 0 10 3.4Z" fill="currentColor" />
  </Drawing>
);
export const SealIcon = () => (
  <Drawing>
    <path d="M10 2.6 12 4l2.4-.2.8 2.3 1.9 1.5-.8 2.3.8 2.3-1.9 1.5-.8 2.3-2.4-.2-2 1.4-2-1.4-2.4.2-.8-2.3-1.9-1.5.8-2.3-.8-2.3 1.9-1.5.8-2.3L8 4Z" />
    <path d="m7.4 10 1.8 1.8 3.4-3.6" />
  </Drawing>
);
export const CoinIcon = () => (
  <svg class="coin" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
    <circle cx="16" cy="16" r="15" class="coin-face" />
    <circle cx="16" cy="16" r="12.2" class="coin-rim" />
    <path d="M12.4 23V9.2h8.4v2.5h-5.5v3.4h4.9v2.4h-4.9V23z" class="coin-mark" />
  </svg>
);
