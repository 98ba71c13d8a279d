import { SETTINGS } from './settings.ts';

const HEAD = `# Settings

From the environment, or from a JSON object in \`farthing.json\` (or the file that \`FARTHING_CONFIG\` names); the environment wins. A setting
that doesn't exist or has an unusable value stops the start, with all faults listed. \`FARTHING_KERNEL\` forces one scan kernel.

This page is made by \`npx farthing settings\`; a test keeps it equal to the code.

| setting | default | what it is for |
|---|---|---|
`;

/** The reference of all settings, in Markdown. */
export function settingsPage(): string {
  const rows = Object.entries(SETTINGS).map(
    ([name, { initial, about }]) =>
      `| \`${name}\` | ${initial === '' ? '(empty)' : `\`${initial}\``} | ${about.replaceAll('|', '\\|')} |\n`,
  );
  return HEAD + rows.join('');
}
