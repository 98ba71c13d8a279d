/** Another server of the same cluster. */
export interface Peer {
  /** Its FARTHING_NODE_ID. */
  readonly id: string;
  /** URL for the other servers, without a slash at the end. */
  readonly url: string;
}
