import { Agent, type ClientRequest, type OutgoingHttpHeaders, request } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import type { Peer } from './peer.ts';

/** A server in the same network that takes longer is not there. */
const CONNECT_MS_MAX = 2000;
/** A listener closes connections that are silent for ten seconds. */
const IDLE_MS_MAX = 4000;
const IDLE_SOCKETS_MAX = 64;

export interface PeerRequestOptions {
  readonly method: string;
  /** Path with the query, as it is to be sent. */
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
}

/** A request under way to a peer. */
export interface PeerRequest {
  readonly request: ClientRequest;
  /** False while nothing of it can have reached the peer: no connection is open. */
  mayHaveArrived(): boolean;
}

/** Connections to other servers, kept open between requests. */
export class PeerConnections {
  readonly #agent: Agent;
  readonly #tlsAgent: TlsAgent;
  readonly #urls = new Map<string, URL>();

  /**
   * @param ca of peers with HTTPS, as PEM; absent: the authorities that Node trusts
   * @param socketsMax open to one peer at a time; what comes then waits
   */
  constructor(ca?: string, socketsMax = Number.POSITIVE_INFINITY) {
    const options = {
      keepAlive: true,
      timeout: IDLE_MS_MAX,
      maxSockets: socketsMax,
      maxFreeSockets: IDLE_SOCKETS_MAX,
    };
    this.#agent = new Agent(options);
    this.#tlsAgent = new TlsAgent({ ...options, ...(ca !== undefined && { ca }) });
  }

  /** @throws TypeError for what cannot be sent in a head */
  open(peer: Peer, { method, path, headers }: PeerRequestOptions): PeerRequest {
    const { protocol, hostname, port } = this.#urlOf(peer);
    const isSecure = protocol === 'https:';
    const options = {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port || (isSecure ? 443 : 80),
      method,
      path,
      headers,
      setDefaultHeaders: false,
    };
    const sent = isSecure
      ? tlsRequest({ ...options, agent: this.#tlsAgent })
      : request({ ...options, agent: this.#agent });
    let mayHaveArrived = false;
    sent.once('socket', (socket) => {
      mayHaveArrived = !socket.connecting;
      if (mayHaveArrived) return;
      const late = setTimeout(() => sent.destroy(new Error('the peer does not answer')), CONNECT_MS_MAX);
      // Before its handshake TLS sends nothing of a request.
      socket.once(isSecure ? 'secureConnect' : 'connect', () => {
        mayHaveArrived = true;
        clearTimeout(late);
      });
      socket.once('close', () => clearTimeout(late));
    });
    return { request: sent, mayHaveArrived: () => mayHaveArrived };
  }

  close(): void {
    this.#agent.destroy();
    this.#tlsAgent.destroy();
  }

  /** Peers are few. */
  #urlOf({ url }: Peer): URL {
    const known = this.#urls.get(url) ?? new URL(url);
    this.#urls.set(url, known);
    return known;
  }
}
