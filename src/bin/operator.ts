import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { runAdminCommand } from '@farthing/server/operator/commands/command';
import { onStopSignals } from '@farthing/server/start/stop-signals';
import { clusterTools } from './start.ts';

/** Runs the operator's commands (`farthing admin …`). They need the server's data folder, and for some the socket in it. */

const { stdin, stdout, stderr } = process;
// A reader of the output may stop early, as `head` does.
stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

process.exitCode = await runAdminCommand(process.argv.slice(2), {
  environment: process.env,
  cluster: clusterTools,
  ...(stdout.isTTY && { columns: stdout.columns }),
  write: (output) => void stdout.write(output),
  explain: (line) => void stderr.write(`${line}\n`),
  ...(stderr.isTTY && { progress: (line: string) => void stderr.write(`\r\x1b[2K${line}`) }),
  input: () => text(stdin),
  pause: (milliseconds) => pause(milliseconds),
  interruption: () => {
    const controller = new AbortController();
    onStopSignals(
      () => controller.abort(new Error('Interrupted: nothing was kept.')),
      () => process.exit(1),
    );
    return controller.signal;
  },
});
