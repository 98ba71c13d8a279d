/** Runs before the first paint, so that a chosen theme doesn't flash. */
export {};

const chosen = localStorage.getItem('farthing.theme');
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
