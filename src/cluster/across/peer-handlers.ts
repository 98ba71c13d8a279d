import type { PrepaidReturn } from '@farthing/payment/prepaid/balances';
import type { Address } from '@farthing/protocol/address';
import { FarthingError } from '@farthing/protocol/error';
import { payerTenantId, storedId } from '@farthing/protocol/id';
import type { ExtensionRef, ExtensionSteps } from '@farthing/server/purchases/extension-steps';
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { PeerAwayError } from '../peers/peer-calls.ts';
import { PEER_CALLS } from './peer-purchases.ts';

/** A slot's store that this process owns. */
export interface BooksHere {
  readonly extensions: ExtensionSteps;
  /** Whether a payment may still commit the extension. */
  knows(step: string): boolean;
  /** Returns prepaid money to a wallet whose store is here. Idempotent. */
  takeBack(owed: PrepaidReturn): Promise<void>;
  /** Resolves once what was read may be reported. @throws when it never may: another server may own the slot */
  stable(): Promise<void>;
}

const WALLET = Type.String({ pattern: '^0x[0-9a-f]{40}$' });
const Request = Type.Object({
  id: Type.String(),
  payer: WALLET,
  ttlMinutes: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  token: Type.Optional(Type.String()),
});
const ReserveRequest = Type.Composite([Request, Type.Object({ reserveMoney: Type.String() })]);
const Owed = Type.Object({
  step: Type.String(),
  payer: WALLET,
  money: Type.String(),
  amount: Type.String({ pattern: '^[0-9]{1,30}$' }),
  time: Type.Integer({ minimum: 0 }),
});
const Ref = Type.Object({ workspace: Type.String(), step: Type.String() });
const Question = Type.Object({ payer: WALLET, step: Type.String() });

/**
 * Answers calls of `PeerPurchases`. Everything it reports is in the log, and no other server owned the slot by then.
 * @param booksOf the store that an id leads to; undefined while this process does not own it
 */
export function peerHandlers(
  booksOf: (id: string) => BooksHere | undefined,
): Readonly<Record<string, (body: unknown) => Promise<object>>> {
  /** Runs the work on the store that a body's key leads to. */
  const inBooks =
    <Schema extends TSchema>(
      schema: Schema,
      idOf: (body: Static<Schema>) => string,
      work: (books: BooksHere, body: Static<Schema>) => Promise<object>,
    ) =>
    async (body: unknown) => {
      if (!Value.Check(schema, body)) throw new FarthingError('request_malformed', 'The call is malformed.');
      const books = booksOf(idOf(body));
      if (!books) throw new PeerAwayError('the books are elsewhere');
      const answer = await work(books, body);
      await books.stable();
      return answer;
    };
  const onRef = (work: (extensions: ExtensionSteps, ref: ExtensionRef) => Promise<object>) =>
    inBooks(
      Ref,
      ({ workspace }) => workspace,
      ({ extensions }, { workspace, step }) =>
        work(extensions, { workspace: storedId('workspace', workspace), step: storedId('step', step) }),
    );
  return {
    [PEER_CALLS.extend]: inBooks(
      Request,
      ({ id }) => id,
      ({ extensions }, { payer, ...request }) => extensions.extend({ ...request, payer: payer as Address }),
    ),
    [PEER_CALLS.reserve]: inBooks(
      ReserveRequest,
      ({ id }) => id,
      ({ extensions }, { payer, ...request }) => extensions.extend({ ...request, payer: payer as Address }),
    ),
    [PEER_CALLS.takeBack]: inBooks(
      Owed,
      ({ payer }) => payerTenantId(payer as Address),
      async (books, { step, payer, amount, ...owed }) => {
        const parsed = { step: storedId('step', step), payer: payer as Address, amount: BigInt(amount) };
        await books.takeBack({ ...owed, ...parsed });
        return {};
      },
    ),
    [PEER_CALLS.commit]: onRef((extensions, ref) => extensions.commit(ref)),
    [PEER_CALLS.reissue]: onRef((extensions, ref) => extensions.reissue(ref)),
    [PEER_CALLS.undo]: onRef(async (extensions, ref) => {
      await extensions.undo(ref);
      return {};
    }),
    [PEER_CALLS.knows]: inBooks(
      Question,
      ({ payer }) => payerTenantId(payer as Address),
      async (books, { step }) => ({ known: books.knows(step) }),
    ),
  };
}
