import { FarthingError } from '@farthing/client';
import { bytesText, counted, usdText } from '@farthing/protocol/figures';
import { formatUsd, parseUsd } from '@farthing/protocol/money';
import { type Access, inWorkspace } from '../access/access.ts';
import { timeLeftText } from '../terminal/figures.ts';
import type { Io } from '../terminal/io.ts';
import { say } from '../terminal/say.ts';
import { aligned } from '../terminal/table.ts';
import type { FoundFile } from './files.ts';

/** Length of the workspace that the price is compared with. */
const MINUTES = 60;

/**
 * Before several files are sent: shows their number and price, and asks for consent. In a workspace, names it.
 * @throws budget_exceeded, payment_declined, workspace_unauthorized; UsageError without a terminal to ask on
 */
export async function confirmUpload(files: readonly FoundFile[], access: Access, io: Io): Promise<void> {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const size = `${counted(files.length, 'file')}, ${bytesText(bytes)}`;
  const { workspace } = access;
  if (workspace) {
    const { ttl_seconds_left } = await inWorkspace(access, io, () => workspace.usage());
    if (io.err) say(io, `${size}, into ${workspace.id} (${timeLeftText(ttl_seconds_left)})`);
    return;
  }
  const { prices_usd: prices } = await access.client.ready();
  const each = parseUsd(prices.ingest ?? '0');
  const sum = each * BigInt(files.length);
  const rented =
    parseUsd(prices.workspace ?? '0') + parseUsd(prices.workspace_minute ?? '0') * BigInt(MINUTES);
  const rows = [
    ['paid one by one', usdText(formatUsd(sum)), `${usdText(formatUsd(each))} a file`],
    ...(rented < sum
      ? [['in a workspace', usdText(formatUsd(rented)), 'for an hour, searches included']]
      : []),
  ];
  const advice = rented < sum ? `\n"farthing workspace create --minutes ${MINUTES}" rents one.` : '';
  const plan = `${size}\n${aligned(rows).replace(/^/gm, '  ')}${advice}\n`;
  if (sum > parseUsd(access.budgetUsd)) {
    io.explain(plan);
    throw new FarthingError(
      'budget_exceeded',
      `That is more than the budget of ${usdText(access.budgetUsd)}: --budget ${formatUsd(sum)} allows it. Nothing was paid.`,
      { facts: { price_usd: formatUsd(sum), budget_usd: access.budgetUsd } },
    );
  }
  if (io.err) io.explain(plan);
  await access.consent.forAll(sum, `Pay up to ${usdText(formatUsd(sum))}?`);
}
