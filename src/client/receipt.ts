import type { JSONWebKeySet } from 'jose';
import type { DisposalAnswer } from './answers/answers.ts';
import { FarthingError } from './answers/error.ts';

const TYPE = 'farthing-disposal+jwt';

/** A set of public keys (RFC 7517), as `/.well-known/jwks.json` has it. */
export interface KeySet {
  readonly keys: readonly object[];
}

/**
 * Claims of a disposal receipt, once its signature is proved by one of the keys.
 * @throws receipt_invalid, also for another workspace's receipt; receipt_unchecked where signatures cannot be verified
 */
export async function verifyReceipt(
  receipt: string,
  keys: KeySet,
  workspace?: string,
): Promise<Readonly<Record<string, unknown>>> {
  const { compactVerify, createLocalJWKSet } = await import('jose');
  const claims = await compactVerify(receipt, createLocalJWKSet(keys as JSONWebKeySet), {
    algorithms: ['EdDSA', 'Ed25519'],
  })
    .then(({ payload, protectedHeader }) => {
      if (protectedHeader.typ !== TYPE) throw new Error('it is signed, but no disposal receipt');
      return JSON.parse(new TextDecoder().decode(payload)) as Record<string, unknown>;
    })
    .catch((cause: unknown) => {
      throw cannotCheck(cause) ? unchecked(cause) : invalid(cause);
    });
  if (workspace !== undefined && claims.workspace !== workspace)
    throw new FarthingError(
      'receipt_invalid',
      `The receipt is for ${String(claims.workspace)}, not ${workspace}.`,
    );
  return claims;
}

/** The disposal with the claims of its verified receipt. @throws as verifyReceipt, with the disposal in its facts */
export async function verifyDisposal(
  disposal: DisposalAnswer,
  keys: KeySet,
  workspace: string,
): Promise<DisposalAnswer> {
  try {
    const claims = await verifyReceipt(disposal.receipt, keys, workspace);
    return { ...disposal, claims: claims as unknown as DisposalAnswer['claims'] };
  } catch (error) {
    if (!(error instanceof FarthingError)) throw error;
    throw new FarthingError(error.code, error.detail, { facts: { disposal }, cause: error.cause });
  }
}

/** A browser without Ed25519, or a page that is neither HTTPS nor on loopback and so has no Web Crypto. */
function cannotCheck(cause: unknown): boolean {
  const { name, code } = cause as { name?: unknown; code?: unknown };
  return !globalThis.crypto?.subtle || name === 'NotSupportedError' || code === 'ERR_JOSE_NOT_SUPPORTED';
}

function invalid(cause: unknown): FarthingError {
  return new FarthingError('receipt_invalid', `The receipt is not valid: ${(cause as Error).message}.`, {
    cause,
  });
}

function unchecked(cause: unknown): FarthingError {
  return new FarthingError(
    'receipt_unchecked',
    'Ed25519 cannot be checked here: use another runtime, or HTTPS for a page.',
    { cause },
  );
}
