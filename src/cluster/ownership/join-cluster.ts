import { toTimestamp } from '@farthing/protocol/clock';
import { VERSION } from '@farthing/protocol/version';
import { ConfigError } from '@farthing/server/settings/config';
import { fileOf, secretOf } from '@farthing/server/settings/secrets';
import type { Settings } from '@farthing/server/settings/settings';
import { moneyOf } from '@farthing/server/state/folder-money';
import { LEASE_ANSWER_MS_MAX } from '../log/logged-stores.ts';
import { prefixOf } from '../log/slot-logs.ts';
import { type AgreedSpace, agreeOnModels } from '../members/agreed-models.ts';
import { agreeOnConfig } from '../members/cluster-config.ts';
import { Membership } from '../members/membership.ts';
import { ClaimError } from '../members/slot-claims.ts';
import { HttpPeerCalls, type PeerCalls } from '../peers/peer-calls.ts';
import { PeerSignatures, peerKeysOf } from '../peers/peer-signature.ts';
import { AccessRefusedError } from '../stores/etcd.ts';
import { GroupCommit } from '../stores/group-commit.ts';
import { type AnswerLostError, type Kv, untilAnswered } from '../stores/kv.ts';
import { Lease } from '../stores/lease.ts';
import { clusterName, namedEtcd } from '../stores/named-stores.ts';

export interface JoinOptions {
  readonly settings: Settings;
  /** Spaces of the models in use. */
  readonly spaces: readonly AgreedSpace[];
  readonly log: (event: object) => void;
  /** The lease is over: this process may answer nothing. */
  readonly onLost: (error: unknown) => void;
  /** Called for each transaction of the logs, with its milliseconds. */
  readonly onCommitted?: (milliseconds: number) => void;
}

/** This process's membership in a cluster whose slots are shared. */
export interface Joined {
  readonly kv: Kv;
  readonly cluster: string;
  readonly node: string;
  readonly lease: Lease;
  readonly commits: GroupCommit;
  readonly membership: Membership;
  /** How this server's models differ from the cluster's: it takes no slots. */
  readonly modelsDiffer: string | undefined;
  /** Signatures by which servers of the cluster know each other. */
  readonly signatures: PeerSignatures;
  readonly calls: PeerCalls;
  /** CA certificates of the other servers (PEM), where Node does not trust theirs. */
  readonly ca: string | undefined;
  /** Gives the lease back, and with it the membership. Rows must be out of use. */
  close(): Promise<void>;
}

/** Joins the cluster that the settings name, without taking slots yet; waits while etcd is away. @throws ConfigError */
export async function joinCluster(options: JoinOptions): Promise<Joined> {
  const { settings, spaces, log, onLost, onCommitted } = options;
  const [kv, leases] = [
    await namedEtcd(settings),
    // An unresponsive member must not cost a renewal.
    await namedEtcd(settings, { answerMsMax: LEASE_ANSWER_MS_MAX }),
  ];
  const cluster = clusterName(settings);
  const node = settings.NODE_ID;
  const answered = <T>(ask: () => Promise<T>) =>
    untilAnswered(ask, ({ message }: AnswerLostError) => log({ event: 'log_answer_lost', error: message }));
  try {
    await kv.check(prefixOf(cluster)).catch((error: unknown) => {
      if (error instanceof AccessRefusedError) throw error;
    });
    const { money } = moneyOf(settings);
    await answered(() => agreeOnConfig({ kv, cluster, node, slots: settings.SLOTS, money }));
    const modelsDiffer = await answered(() => agreeOnModels(kv, cluster, spaces));
    const lease = await answered(() =>
      Lease.take({ leases, seconds: settings.CLUSTER_LEASE_SECONDS, onLost }),
    );
    const row = {
      url: settings.NODE_URL,
      version: VERSION,
      weight: settings.NODE_WEIGHT,
      since: toTimestamp(Date.now()),
      ready: false,
      ...(modelsDiffer !== undefined && { models_differ: modelsDiffer }),
    };
    const membership = await answered(() =>
      Membership.join({ kv, watches: kv, cluster, node, row, lease, log, slots: settings.SLOTS }),
    );
    const signatures = new PeerSignatures(peerKeysOf(await secretOf(settings, 'CLUSTER_KEY')), node);
    const ca = await fileOf(settings, 'NODE_CA_FILE');
    const calls = new HttpPeerCalls(signatures, ca);
    log({ event: 'cluster_joined', node, cluster });
    return {
      kv,
      cluster,
      node,
      lease,
      commits: new GroupCommit({ kv, log, ...(onCommitted && { onCommitted }) }),
      membership,
      modelsDiffer,
      signatures,
      calls,
      ca,
      close: async () => {
        await membership.close();
        calls.close();
        await lease.end();
        kv.close();
        leases.close();
      },
    };
  } catch (error) {
    kv.close();
    leases.close();
    if (error instanceof ClaimError || error instanceof AccessRefusedError)
      throw new ConfigError(`FARTHING_CLUSTER: ${error.message}`);
    throw error;
  }
}
