/** Descriptions by operation id: the result, and caveats. The title is the summary, beside the route. */
export const DESCRIPTIONS: Readonly<Record<string, string>> = {
  search:
    'Searches everything that this wallet has uploaded: by meaning, by exact words, by picture, or for pictures by a description. Charged also when nothing is found, but not while the index is empty (`charged` says so).',
  ingest:
    'Takes one file, as multipart field `file` or as the raw body, and makes it searchable for the wallet that pays. The file is recognised and opened before the payment is settled: what cannot be read costs nothing. Answers at once; `Prefer: wait=30` waits until it is searchable. The same bytes again are not charged, and another name of theirs finds the item too (`aliases`); another version with the same `key` replaces the item. A zip or tar is one upload.',
  item: 'Name, type, size, pages, state and expiry of one of your items. Only the wallet that uploaded it finds it.',
  itemPreview:
    'A WebP picture of an item, of the page `page`, or of the moment `time_s` of a film. Items without a picture are answered 422, uncharged.',
  job: 'State and progress of an upload. Free: the id, which the upload returned, is the credential. Ends as `searchable` or `failed`; a paid upload that fails leaves a credit for the next one.',
  jobEvents: 'The same as the job, pushed as it changes, until it ends.',
  createWorkspace:
    'Rents a private index for some minutes. The answer shows `capability_token` once: it alone opens the workspace, whoever paid. Uploads and searches in it cost nothing more until it expires.',
  searchWorkspace: 'As a paid search, over the workspace’s files. Included in its price.',
  grepWorkspace:
    'Lines of the workspace’s texts that have a match of a regular expression, in order of upload, with where they stand: for names, numbers and code that are known by their letters. Texts are those that a search sees (`/items/{id}/text`), with the title of each item as its line 0. Included in its price.',
  ingestWorkspace: 'As a paid upload, into the workspace. Included in its price.',
  workspaceJob: 'State and progress of an upload into the workspace.',
  workspaceJobEvents: 'The same as the job, pushed as it changes, until it ends.',
  cancelWorkspaceJob: 'Stops reading a file. Nothing of it stays but the state of its job.',
  workspaceHistory: 'Queries, when they were asked, how many hits they had, and how long they took.',
  workspaceItems: 'All items, a page at a time; `next` leads to the following page.',
  workspaceItem: 'Name, type, size, pages, state and expiry of an item.',
  workspaceItemContent: 'The bytes that were uploaded, unchanged.',
  exportWorkspace:
    'All items with their metadata, keys and passages, and with `content=true` their files: what another workspace needs to hold the same. With `vectors=true` each passage and picture has its vectors, and lines of the type `space` say by which model. One at a time for each workspace.',
  workspaceItemText:
    'The text of an item as it was read, from `page`, `time_s` or `from` on: what an agent reads around a hit.',
  workspaceItemCaptions:
    'What is said in a film or recording, second by second, as WebVTT: its subtitles, and its speech where this server has a model that transcribes it. Players show it as a text track.',
  workspaceItemPreview:
    'A WebP picture of an item, of the page `page`, or of the moment `time_s` of a film. Items without a picture are answered 422.',
  deleteWorkspaceItem:
    'Removes an item from the index and the disk. Searches no longer find it from the answer on.',
  workspaceUsage:
    'Time left, money spent, counts of searches, uploads, items and segments, and how long searches took.',
  extendWorkspace:
    'Buys more minutes for a workspace. Anybody who knows the id may pay. Refused, uncharged, when the spend limit or the longest total time would be passed. With `reserve: true` the minutes are used only when the others have run out, and what is not used goes back: paid in prepaid money.',
  endReserve:
    'Ends the reserve: the minutes in it that are not used go back to the prepaid money of who paid for them, and the workspace expires with the others. So does every earlier end of the workspace. Once more changes nothing.',
  disposeWorkspace:
    'Destroys the workspace and everything in it, and returns a signed receipt (JWS). The same request gives the same receipt for 24 hours.',
  workspaceReceipt:
    'The receipt of a workspace that was deleted or has expired, for 24 hours. Needs its token, which opens nothing else by then.',
  prepay:
    'Takes money in advance. Later requests that name the wallet in `X-Prepaid-Wallet` are paid from it alone: signed as any other, taken from the balance at once, without a transaction on the chain.',
  prepaidBalance:
    'What the wallet that signs has prepaid here. Its 402 asks for a payment of 0 in prepaid money: the signature shows who asks, and nothing is charged.',
  refundPrepaid:
    'Takes prepaid money out of the balance and owes it to its payer; paid by a signature over the amount in prepaid money. The operator sends it to that wallet.',
  refundChannel:
    "Pays what a channel of x402's `batch-settlement` has left back to its payer, as `refund()` of the scheme's client asks: paid by the last voucher, which charges nothing. 404 where channels are not taken.",
  createHouseWorkspace:
    'A workspace that stays until it is disposed of, without a payment. Keys of the house open it where others send its token: `/agent/v1/workspaces/{id}` and what is below. Needs a key with the right `admin`.',
  houseWorkspaces: 'The workspaces that the key opens, a page at a time; `next` leads to the following page.',
  description: 'The document that you are reading.',
  llmsTxt: 'One page with links to the guide, this description and the keys.',
  agentGuide:
    'Prices, clients, limits on files, workspaces, searching and errors, with this server’s address.',
  paidResources: 'Addresses of the paid operations, for catalogues that look there.',
  serverCard: 'Name, version and endpoint of the MCP server, for who has not connected to it yet.',
  mcpServer: 'As `/.well-known/mcp/server-card.json`, for clients that look here.',
  agentCard:
    'The paid operations as skills, for agents and catalogues that look for an Agent2Agent card. Agent2Agent itself is not spoken here.',
  health: 'Answers while the process runs. For supervisors; `/readyz` says whether it can serve.',
  ready:
    'What can be searched here now, with which models, whether payments move real money, and the prices. 503 while the server starts or stops.',
  didDocument:
    'The server as `did:web`, with every key that signs or signed: signed receipts of payments (`offer-receipt` of x402) are verified with it.',
  keys: 'Ed25519 keys. Receipts of disposals are verified with the one that their `kid` names; former keys stay.',
  mcp: 'A Model Context Protocol server: JSON-RPC in, JSON out. Without a workspace each call of a tool is paid in `_meta["x402/payment"]`.',
};
