/** Another server of the same cluster. */
export interface Peer {
  /** Its FARTHING_NODE_ID. */
  readonly id: string;
  /** Where the other servers reach it, without a slash at the end. */
  readonly url: string;
}
