import { ExactEvmScheme } from '@x402/evm';
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

/** An answer with the receipt that came beside it. */
export interface PaidAnswer<T> {
  readonly status: number;
  readonly body: T;
  readonly transaction: string | undefined;
}

/** An agent with a throwaway wallet: pays by itself with the unmodified client of the protocol's authors. */
export class PayingAgent {
  readonly address: string;
  readonly #baseUrl: string;
  readonly #fetch: typeof fetch;

  constructor(baseUrl: string) {
    const account = privateKeyToAccount(generatePrivateKey());
    this.address = account.address;
    this.#baseUrl = baseUrl;
    this.#fetch = wrapFetchWithPaymentFromConfig(fetch, {
      schemes: [{ network: 'eip155:*', client: new ExactEvmScheme(account) }],
    });
  }

  /** A request that is paid when the server asks for it. @throws on any status over 299. */
  async send<T>(
    method: string,
    path: string,
    options: { json?: object; file?: File; headers?: Record<string, string> } = {},
  ): Promise<PaidAnswer<T>> {
    const { json, file, headers = {} } = options;
    const body = file ? formOf(file) : json && JSON.stringify(json);
    const type: Record<string, string> = json ? { 'Content-Type': 'application/json' } : {};
    const response = await this.#fetch(this.#baseUrl + path, {
      method,
      body,
      headers: { ...type, ...headers },
    });
    const text = await response.text();
    if (!response.ok)
      throw new Error(`${method} ${path} was answered ${response.status}: ${text.slice(0, 500)}`);
    const receipt = response.headers.get('PAYMENT-RESPONSE');
    const transaction = receipt ? decodePaymentResponseHeader(receipt).transaction : undefined;
    return { status: response.status, body: JSON.parse(text) as T, transaction };
  }
}

function formOf(file: File): FormData {
  const form = new FormData();
  form.set('file', file);
  return form;
}
