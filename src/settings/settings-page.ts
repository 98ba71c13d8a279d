import { variableOf } from './names.ts';
import { SETTING_NAMES, SETTINGS } from './settings.ts';

const HEAD = `# Settings

From the environment, or from a JSON object in \`farthing.json\` (\`FARTHING_CONFIG\` names another file); the environment wins. In the file, the names
may also stand without \`FARTHING_\`. An unknown variable with the prefix or an unusable value stops the start, and every fault is listed; a variable
without it whose name is nearly a setting's is reported. \`FARTHING_KERNEL\` forces one scan kernel, \`FARTHING_ENCODER_KERNEL\` one
of the native encoder's (\`avx512vnni\`, \`avxvnni\`, \`avx512vl\`, \`avx2\`, \`scalar\`).

In this release the environment may also give a setting without the prefix, as in former ones: \`PORT\`. The start then logs \`setting_notice\`.

Made by \`npx farthing admin settings\` (\`make docs\`).

| setting | default | what it is for |
|---|---|---|
`;

/** The reference of all settings, in Markdown. */
export function settingsPage(): string {
  const rows = SETTING_NAMES.map((name) => {
    const { initial, about } = SETTINGS[name];
    const shown = initial === '' ? '(empty)' : `\`${initial}\``;
    return `| \`${variableOf(name)}\` | ${shown} | ${about.replaceAll('|', '\\|')} |\n`;
  });
  return HEAD + rows.join('');
}
