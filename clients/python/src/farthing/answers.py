"""The shapes of the server's answers, made from its schemas: `make python-answers` writes this file."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import NotRequired, TypedDict

Family = Literal["visual", "text_semantic", "raw"]


class SearchResponse(TypedDict):
    hits: list[SearchHit]
    latency_ms: float
    """Time from reading the request to having the hits, excluding the payment."""
    timing: Timing
    answered: bool
    """Whether a hit is likely to answer. False: probably not in your files."""
    reason: NotRequired[
        Literal[
            "nothing_searchable",
            "nothing_in_filter",
            "nothing_found",
            "unlikely",
        ]
    ]
    """Why `answered` is false: the index is empty, the filter leaves nothing of it, nothing was found, or no hit is
    likely to answer (hits that were found are still returned)."""
    corrected: NotRequired[str]
    """The query with slips in its words corrected, as it was understood: where the index has not a word as it was
    written, and no language is known to have it."""
    relaxed: NotRequired[list[str]]
    """Quoted phrases that stand nowhere in the index: their words were looked for instead."""
    exact: bool
    """Proved: no row of the index scores better in any list than those considered. Says nothing about relevance."""
    bounds: SearchResponseBounds
    """The same for each family that was searched."""
    not_searched: NotRequired[list[SearchResponseNotSearched]]
    """Families that were left out, because the index keeps the model that filled it: the server does not have it
    any more, or is opening it (ask again in some seconds). The hits are those of the other families."""
    truncated: NotRequired[bool]
    """With `max_chars`: whether something had no room."""
    answers: NotRequired[list[QuestionAnswer]]
    """The answer to each of `queries`, in their order. `hits` beside it has the fused ones, or none."""
    charged: bool
    """Whether this request was charged."""
    explanation: NotRequired[SearchExplanation]
    warnings: NotRequired[list[str]]
    """Unknown fields that were ignored."""


class SearchHit(TypedDict):
    item: Item
    confidence: float
    """Estimated probability that this hit answers. Without `order` it never rises down the list."""
    weight: NotRequired[float]
    """With `order.decay`: what the hit’s confidence counts in the order, by its value. `confidence` is as without."""
    likely: bool
    """Worth reading at once: where `answered`, at least a fifth as likely as the best hit; or a picture that looks
    alike (`likeness` ≥ .5). Fold the others; where none is likely, the first three are the nearest."""
    family: Family
    """`visual`: pictures, by picture or by words; `text_semantic`: meaning of text; `raw`: exact words,
    near-identical pictures."""
    likeness: NotRequired[float]
    """Asked with a picture: how alike the two look. 1 for the same picture, .5 and more for one of much the same
    thing, .1 to .4 for any other. `confidence` is how likely it is the same."""
    locator: Locator
    score: float
    """Log-odds of `confidence`, unrounded: orders the hits."""
    snippet: NotRequired[str]
    """Part of the passage, for text."""
    highlights: NotRequired[list[list[int]]]
    """Positions of query words in the snippet: start and end (exclusive), in UTF-16 code units."""
    table: NotRequired[TableRow]
    text: NotRequired[str]
    """With `passages` or `max_chars`: the whole passage and those around it, a line each. Hits whose passages
    follow each other are one hit."""
    text_from: NotRequired[int]
    """Number of the first passage of `text` in the item."""
    text_next: NotRequired[int]
    """Number of the passage behind `text`: `/items/{id}/text?from=` continues there."""
    text_source: NotRequired[Literal["native", "ocr", "subtitle", "speech", "metadata"]]
    """Source of the text: the file itself, text recognition (OCR), subtitles, speech, or the file’s metadata."""
    ocr_confidence: NotRequired[float]
    """OCR’s own confidence in the text."""
    speech_confidence: NotRequired[float]
    """Of `speech`, which a model heard: its own confidence in the text."""
    also: NotRequired[list[OtherPassage]]
    """Of the first three hits: the next best passages of the same page or section, at most two, and none that is in
    `text`."""
    moments: NotRequired[list[Moment]]
    """Of a film or sound recording, which is one hit: its other moments that were found, best first. `locator` is
    the best one."""
    segments: int
    """Segments of the same page, section, film or recording folded into this hit."""
    queries: NotRequired[list[int]]
    """Of fused answers: the questions that found it, from 0."""
    explanation: NotRequired[HitExplanation]


class Item(TypedDict):
    id: str
    name: str
    """File name as sent."""
    aliases: NotRequired[list[str]]
    """Other names under which the same bytes were sent. It is found by each of them."""
    media_type: str
    """As recognised from the content."""
    bytes: int
    """Size of the file."""
    sha256: str
    state: Literal["pending", "searchable", "failed"]
    families: list[Family]
    segments: int
    """Searchable pieces."""
    created_at: str
    """When it was accepted."""
    expires_at: str | None
    title: NotRequired[str]
    key: NotRequired[str]
    """As its uploader calls it. A later upload with the same key replaces it."""
    metadata: NotRequired[dict[str, str | float | bool]]
    """Flat: strings, numbers and booleans by name; at most 4096 characters as JSON."""
    charset: NotRequired[ItemCharset]
    """Character set of a text file."""
    pages: NotRequired[int]
    """Pages, for paged documents."""
    duration_s: NotRequired[float]
    not_searchable: NotRequired[list[str]]
    """Contents that cannot be searched here, such as `speech`."""
    not_read: NotRequired[list[NotRead]]
    """What of the file was not read, and why. Empty: all of it was. Absent until it is searchable."""
    speech: NotRequired[list[ItemSpeech]]
    """Speech in a recording, in seconds from its start."""
    width: NotRequired[int]
    """Pixels."""
    height: NotRequired[int]
    """Pixels."""
    parent_item_id: NotRequired[str]
    """Id of the archive or mail that contained it."""
    path: NotRequired[str]
    """Path in the archive."""
    members: NotRequired[int]
    """Number of files inside. Each is an item; `families` and `segments` cover all of them."""
    members_failed: NotRequired[int]
    """Number of members that could not be read; see their `error`."""
    members_duplicate: NotRequired[int]
    """Number of members that were already there; they have no new item."""
    error: NotRequired[ItemError]
    """Why a file inside another could not be read."""


class ItemCharset(TypedDict):
    """Character set of a text file."""

    name: str
    """As the Encoding Standard of the web names it; besides, `ibm850`."""
    guessed: bool
    """Neither the text nor its bytes say it."""


class NotRead(TypedDict):
    what: Literal[
        "annotations",
        "attachments",
        "characters",
        "charset",
        "charts",
        "comments",
        "drawings",
        "encoded_data",
        "equations",
        "footnotes",
        "forms",
        "formulas",
        "frames",
        "headers",
        "hidden_text",
        "macros",
        "markup",
        "members",
        "navigation",
        "pages",
        "pictures",
        "revisions",
        "sound",
        "speech",
        "text",
    ]
    """`annotations`: notes and marks on a page; `attachments`: files inside; `characters`: characters whose letter
    the file does not say; `charset`: the character set of the text; `charts`: charts and diagrams; `comments`:
    comments of readers; `drawings`: drawings and text boxes; `encoded_data`: data written as letters, such as
    base64; `equations`: equations; `footnotes`: footnotes and endnotes; `forms`: form fields and their values;
    `formulas`: formulas; `frames`: frames of a film or animation; `headers`: headers and footers of pages;
    `hidden_text`: text that readers do not see; `macros`: macros and scripts; `markup`: damaged markup;
    `members`: files in an archive; `navigation`: menus and links around the text; `pages`: pages; `pictures`:
    pictures inside; `revisions`: deleted or earlier text; `sound`: a sound track; `speech`: what is said;
    `text`: text."""
    count: NotRequired[int]
    """How many, where they can be counted."""
    why: Literal[
        "damaged",
        "encrypted",
        "guessed",
        "hidden",
        "left_out",
        "limit",
        "no_text",
        "no_value",
        "refused",
        "time_limit",
        "uncertain",
        "unsupported",
    ]
    """`damaged`: the file is damaged there; `encrypted`: a password is needed; `guessed`: it was guessed: the file
    does not say it; `hidden`: the file hides it; `left_out`: it is no content; `limit`: a limit of this server
    was reached; `no_text`: no words could be recognised; `no_value`: the file has no value for it; `refused`: it
    was refused; its own item says why; `time_limit`: it took too long; `uncertain`: it was recognised, and may
    be wrong; `unsupported`: this server does not read it."""
    times: NotRequired[list[list[float]]]
    """Where it is in a recording: seconds from and to, of the first twenty."""


class ItemSpeech(TypedDict):
    time_s: float
    time_end_s: float


class ItemError(TypedDict):
    """Why a file inside another could not be read."""

    code: str
    detail: str


class Locator(TypedDict):
    page: NotRequired[int]
    """Page of the file, from 1, for paged documents."""
    page_kind: NotRequired[Literal["page", "slide", "sheet", "chapter"]]
    """Unit of `page` when it is not a printed page."""
    box: NotRequired[LocatorBox]
    """Position of the text as fractions of the page, from its top left corner."""
    time_s: NotRequired[float]
    """Start in seconds, for time-based media."""
    time_end_s: NotRequired[float]
    """End in seconds."""
    char_start: NotRequired[int]
    """First character of the passage, in UTF-16 code units."""
    char_end: NotRequired[int]
    """End of the passage, exclusive."""
    heading: NotRequired[str]
    """Heading above the passage."""


class LocatorBox(TypedDict):
    """Position of the text as fractions of the page, from its top left corner."""

    x: float
    y: float
    width: float
    height: float


class TableRow(TypedDict):
    """The row of a table in the passage that has the most words of the query."""

    columns: list[str]
    """The name of each cell’s column; empty where it has none."""
    row: list[str]
    """Its cells."""


class OtherPassage(TypedDict):
    locator: Locator
    snippet: NotRequired[str]
    """Part of the passage, for text."""
    highlights: NotRequired[list[list[int]]]
    """Positions of query words in the snippet: start and end (exclusive), in UTF-16 code units."""
    table: NotRequired[TableRow]
    text_source: NotRequired[Literal["native", "ocr", "subtitle", "speech", "metadata"]]
    """Source of the text: the file itself, text recognition (OCR), subtitles, speech, or the file’s metadata."""
    ocr_confidence: NotRequired[float]
    """OCR’s own confidence in the text."""
    speech_confidence: NotRequired[float]
    """Of `speech`, which a model heard: its own confidence in the text."""


class Moment(TypedDict):
    time_s: float
    """Start in seconds."""
    time_end_s: NotRequired[float]
    """End in seconds."""
    confidence: float
    """Probability that this moment answers; at most that of its hit."""


class HitExplanation(TypedDict):
    """score = base + the sum of `part` over the lists of the hit’s kind. The likelier kind counts."""

    lists: list[HitExplanationLists]
    kind: Literal["passages", "pictures"]
    base: float
    """What no list adds by itself: from the query, the first hit’s evidence, and for the first hit its lead."""


class HitExplanationLists(TypedDict):
    list: Literal[
        "text_semantic",
        "visual_words",
        "visual_picture",
        "raw_words",
        "raw_picture",
    ]
    kind: Literal["passages", "pictures"]
    family: Family
    """`visual`: pictures, by picture or by words; `text_semantic`: meaning of text; `raw`: exact words,
    near-identical pictures."""
    rank: NotRequired[int]
    """Rank in the list; absent when another list found the hit."""
    raw_score: float
    """The list’s own score: cosine, BM25, or similarity of fingerprints."""
    part: float
    """The list’s contribution to the score, in log-odds; 0 for lists of the other kind."""


class Timing(TypedDict):
    """Milliseconds of each stage; verify and settle belong to the payment."""

    verify_ms: NotRequired[float]
    encode_ms: NotRequired[float]
    scan_ms: NotRequired[float]
    fuse_ms: NotRequired[float]
    settle_ms: NotRequired[float]
    total_ms: NotRequired[float]


class SearchResponseBounds(TypedDict):
    """The same for each family that was searched."""

    visual: NotRequired[Bound]
    text_semantic: NotRequired[Bound]
    raw: NotRequired[Bound]


class Bound(TypedDict):
    """Guarantee for the lists of one family."""

    exact: bool
    """Proved to be the best of all rows."""
    recall: NotRequired[float]
    """When not proved: the mean share of the true top k that is found, for every k. Send `exact: true` for the
    proof."""


class SearchResponseNotSearched(TypedDict):
    family: Family
    """`visual`: pictures, by picture or by words; `text_semantic`: meaning of text; `raw`: exact words,
    near-identical pictures."""
    reason: Literal["model_not_installed", "model_opening"]


class QuestionAnswer(TypedDict):
    hits: NotRequired[list[SearchHit]]
    """Absent where all are fused."""
    answered: bool
    """Whether a hit is likely to answer. False: probably not in your files."""
    reason: NotRequired[
        Literal[
            "nothing_searchable",
            "nothing_in_filter",
            "nothing_found",
            "unlikely",
        ]
    ]
    """Why `answered` is false: the index is empty, the filter leaves nothing of it, nothing was found, or no hit is
    likely to answer (hits that were found are still returned)."""
    corrected: NotRequired[str]
    """The query with slips in its words corrected, as it was understood: where the index has not a word as it was
    written, and no language is known to have it."""
    relaxed: NotRequired[list[str]]
    """Quoted phrases that stand nowhere in the index: their words were looked for instead."""
    exact: bool
    """Proved: no row of the index scores better in any list than those considered. Says nothing about relevance."""
    bounds: QuestionAnswerBounds
    """The same for each family that was searched."""
    not_searched: NotRequired[list[QuestionAnswerNotSearched]]
    """Families that were left out, because the index keeps the model that filled it: the server does not have it
    any more, or is opening it (ask again in some seconds). The hits are those of the other families."""
    truncated: NotRequired[bool]
    """With `max_chars`: whether something had no room."""
    timing: Timing
    explanation: NotRequired[SearchExplanation]


class QuestionAnswerBounds(TypedDict):
    """The same for each family that was searched."""

    visual: NotRequired[Bound]
    text_semantic: NotRequired[Bound]
    raw: NotRequired[Bound]


class QuestionAnswerNotSearched(TypedDict):
    family: Family
    """`visual`: pictures, by picture or by words; `text_semantic`: meaning of text; `raw`: exact words,
    near-identical pictures."""
    reason: Literal["model_not_installed", "model_opening"]


class SearchExplanation(TypedDict):
    lists: list[SearchExplanationLists]
    segments: int
    """Segments of the index."""
    depth: int
    """Top entries of each list that were fused."""
    tasks: list[SearchExplanationTasks]
    """Work of the encoders."""


class SearchExplanationLists(TypedDict):
    list: Literal[
        "text_semantic",
        "visual_words",
        "visual_picture",
        "raw_words",
        "raw_picture",
    ]
    corrected: NotRequired[str]
    """The query as the list understood it, with slips corrected."""
    scanned: int
    """Rows or postings scanned."""
    rescored: int
    """Rows whose exact score was computed."""
    exact: bool
    """Proved to be the best of all rows."""
    method: Literal["proved", "bits", "graph"]
    """`proved`: exact; `bits`: rows skipped by a statistical bound; `graph`: found along a graph (HNSW)."""
    recall: NotRequired[float]
    """When not proved: as in `bounds`. Of a graph as measured on this index."""


class SearchExplanationTasks(TypedDict):
    kind: str
    batch: int
    """Queries in the same batch, including those of other requests."""
    waited_ms: float
    """Longest wait for a worker in the batch."""
    ran_ms: float


class GrepResponse(TypedDict):
    lines: list[GrepLine]
    """In order of upload, and of the file."""
    truncated: bool
    """There may be more: `max_lines` were found, or two seconds were over. `next` goes on; there may be no line
    until then."""
    next: str | None
    """Where `truncated`: the `after` of the next request. Otherwise null."""
    latency_ms: float
    """Time from reading the request to having the lines."""
    warnings: NotRequired[list[str]]
    """Unknown fields that were ignored."""


class GrepLine(TypedDict):
    item: Item
    passage: int
    """Number of its passage in the item: `/items/{id}/text?from=` reads on from there."""
    line: int
    """Its number in the passage, from 1; 0: the title of the item."""
    text: str
    """The line. Of more than 500 characters the part around its first match."""
    highlights: list[list[int]]
    """Positions of the matches in the text: start and end (exclusive), in UTF-16 code units."""
    before: NotRequired[list[str]]
    """With `context`: the lines before it."""
    after: NotRequired[list[str]]
    """With `context`: the lines behind it."""
    locator: Locator
    text_source: NotRequired[Literal["native", "ocr", "subtitle", "speech", "metadata"]]
    """Source of the text: the file itself, text recognition (OCR), subtitles, speech, or the file’s metadata."""
    ocr_confidence: NotRequired[float]
    """OCR’s own confidence in the text."""
    speech_confidence: NotRequired[float]
    """Of `speech`, which a model heard: its own confidence in the text."""


class IngestResponse(TypedDict):
    item: NotRequired[Item]
    """Absent when the payer’s index ended before the payment was settled: `job` says how it ended, and the payer
    has a credit for it."""
    job_id: str
    job: Job
    duplicate: NotRequired[bool]
    """The same bytes were already there."""
    credit_used: NotRequired[bool]
    """Paid for by an earlier ingest that failed."""
    charged: bool
    """Whether this request was charged."""
    warnings: NotRequired[list[str]]
    """Unknown fields that were ignored."""


class Job(TypedDict):
    id: str
    item: str
    """Id of the item."""
    state: Literal[
        "accepted",
        "extracting",
        "encoding",
        "committing",
        "searchable",
        "failed",
        "cancelled",
    ]
    progress: float
    segments: int
    """Segments made so far."""
    time_left_s: NotRequired[int]
    """Seconds to its end at the pace so far, of a running job."""
    created_at: str
    """When it was accepted."""
    updated_at: str
    """When it last changed."""
    not_read: NotRequired[list[NotRead]]
    """What of the file was not read, and why. Empty: all of it was. Absent until it is searchable."""
    error: NotRequired[JobError]
    """Why it failed."""


class JobError(TypedDict):
    """Why it failed."""

    code: str
    detail: str


class Workspace(TypedDict):
    id: str
    state: Literal["active", "disposing", "disposed"]
    created_at: str
    """When it was paid for."""
    expires_at: str
    """When it expires."""
    ttl_minutes_asked: int | None
    ttl_minutes: int
    """Minutes given, after clamping."""
    ttl_seconds_left: int
    price_usd: str
    """Price of this step."""
    spend_usd: str
    """Spent so far, without what is in reserve."""
    spend_limit_usd: str | None
    language: NotRequired[str]
    """Language of its texts (ISO 639-3), as it was asked for."""
    reserve: Reserve
    limits: NotRequired[dict[str, Any]]
    links: NotRequired[dict[str, str]]
    capability_token: NotRequired[str]
    """Bearer token: shown here and never again."""
    charged: NotRequired[bool]
    """Whether this request was charged."""
    warnings: NotRequired[list[str]]
    """Unknown fields that were ignored."""


class Reserve(TypedDict):
    """Minutes in reserve."""

    minutes: int
    """Minutes in reserve that are not used: the last of `ttl_seconds_left`."""
    usd: str
    """What goes back to the prepaid money of who paid for them, unless they are used."""


class WorkspaceUsage(TypedDict):
    id: str
    house: NotRequired[Literal[True]]
    """A workspace of the house: it has no end and no price."""
    state: Literal["active", "disposing", "disposed"]
    created_at: str
    """When it was paid for."""
    expires_at: str | None
    ttl_seconds_left: int | None
    spend_usd: str
    """Spent so far, without what is in reserve."""
    spend_limit_usd: str | None
    reserve: Reserve
    searches: int
    """Searches answered."""
    ingests: int
    """Files accepted."""
    items: int
    """Items searchable."""
    segments: int
    """Segments searchable."""
    bytes: int
    """Bytes stored."""
    text_model: NotRequired[str]
    """The model that texts are found by meaning with, and its weights. A small index changes to the one for other
    languages when texts in one come."""
    latency_ms: WorkspaceUsageLatencyMs
    """Of its searches, in milliseconds; null before the first."""


class WorkspaceUsageLatencyMs(TypedDict):
    """Of its searches, in milliseconds; null before the first."""

    p50: float | None
    p90: float | None
    p99: float | None
    max: float | None


class HouseWorkspace(TypedDict):
    """A workspace that stays until it is disposed of."""

    id: str
    house: Literal[True]
    name: NotRequired[str]
    state: Literal["active", "disposing", "disposed"]
    created_at: str
    """When it was made."""
    language: NotRequired[str]
    """Language of its texts (ISO 639-3)."""
    limits: dict[str, Any]
    links: dict[str, str]
    warnings: NotRequired[list[str]]
    """Unknown fields that were ignored."""


class HouseWorkspaceList(TypedDict):
    workspaces: list[HouseWorkspace]
    next: str | None
    """Cursor of the next page; null on the last."""


class ReserveEnded(TypedDict):
    id: str
    expires_at: str
    """When the workspace expires now."""
    ttl_seconds_left: int
    returned_minutes: int
    """Minutes that were in reserve and not used."""
    returned_usd: str
    """What goes back to the prepaid money of who paid for them."""


class Prepaid(TypedDict):
    added_usd: str
    """Added by this payment."""
    prepaid_usd: str
    """What you can spend now."""
    charged: bool
    """Whether this request was charged."""
    warnings: NotRequired[list[str]]
    """Unknown fields that were ignored."""


class PrepaidBalance(TypedDict):
    wallet: str
    """The wallet that signed."""
    prepaid_usd: str
    """What you can spend now."""
    refundable_usd: str
    """What you can have back: also what was not used for so long that it cannot be spent."""
    charged: bool
    """Whether this request was charged."""


class PrepaidRefund(TypedDict):
    id: str
    refund_usd: str
    """Owed to you from now on: the operator sends it to the wallet that signed."""
    prepaid_usd: str
    """What you can still spend."""
    charged: bool
    """Whether this request was charged."""
    warnings: NotRequired[list[str]]
    """Unknown fields that were ignored."""


class ItemList(TypedDict):
    items: list[Item]
    next: str | None
    """Cursor of the next page; null on the last."""


class ItemText(TypedDict):
    id: str
    passages: list[ItemTextPassages]
    """In the order of the file, without gaps."""
    next: int | None
    """`from` of the passages that follow; null at the end."""


class ItemTextPassages(TypedDict):
    text: str
    locator: Locator
    text_source: NotRequired[Literal["native", "ocr", "subtitle", "speech", "metadata"]]
    speech_confidence: NotRequired[float]
    """Of `speech`, which a model heard."""


class ItemDeleted(TypedDict):
    id: str
    state: Literal["deleted"]


class SearchHistory(TypedDict):
    entries: list[SearchHistoryEntries]
    next: str | None
    """Cursor of the next page; null on the last."""


class SearchHistoryEntries(TypedDict):
    at: str
    """When it was answered."""
    query: NotRequired[str]
    image_sha256: NotRequired[str]
    """Digest of the picture that was searched with."""
    like: NotRequired[str]
    """Id of the item that the hits were to be like."""
    families: NotRequired[list[Family]]
    k: int
    hits: int
    """Hits of the answer."""
    latency_ms: float


class DisposalReceipt(TypedDict):
    id: str
    state: Literal["disposed"]
    receipt: str
    """Compact JWS (EdDSA); its key is at /.well-known/jwks.json."""
    claims: ReceiptClaims
    """Content of the receipt, for reading."""


class ReceiptClaims(TypedDict):
    """Content of a disposal receipt. Counts are null if the index could not be read: its folder is destroyed all
    the same."""

    sub: str
    iat: int
    """When it was signed, in seconds since 1970."""
    workspace: str
    created_at: str
    """When it was paid for."""
    expires_at: str
    """When it would have ended."""
    disposed_at: str
    """When its data was destroyed."""
    reason: NotRequired[str]
    """Why it ended."""
    items: int | None
    segments: int | None
    bytes: int | None
    items_sha256: str | None
    searches: int
    ingests: int
    spend_usd: str
    """What it cost."""
    iss: str
    """The server that signed it."""
    copies: NotRequired[ReceiptClaimsCopies]
    """Encrypted copies beyond the server’s disk, which were destroyed, too."""
    kept: list[ReceiptClaimsKept]
    """What outlives the workspace."""


class ReceiptClaimsCopies(TypedDict):
    """Encrypted copies beyond the server’s disk, which were destroyed, too."""

    objects_left: int
    key_destroyed: bool
    removed_by: NotRequired[list[str]]
    """Servers that had a copy."""


class ReceiptClaimsKept(TypedDict):
    what: str
    why: str
    until: str | None
    """RFC 3339; null: no set end."""


class Readiness(TypedDict):
    ready: bool
    reasons: list[str]
    """Why it is not ready."""
    families: list[ReadinessFamilies]
    """What can be searched, by which models and providers, and why not."""
    previous_models: NotRequired[list[ReadinessPreviousModels]]
    """Models that are not in use and that living indexes may have, each until the last of these ends."""
    models_differ: NotRequired[str]
    """How this server's models differ from its cluster's. It passes requests on and has no indexes."""
    queues: dict[str, Any]
    """Calls that wait for an encoder."""
    payment: dict[str, Any]
    """The facilitator, and payments that run or wait for their outcome."""
    extraction: str | dict[str, Any]
    prices_usd: dict[str, str]
    """Prices of the routes."""
    workspace_minutes: ReadinessWorkspaceMinutes
    """What `ttl_minutes` is clamped to."""


class ReadinessFamilies(TypedDict):
    family: Family
    """`visual`: pictures, by picture or by words; `text_semantic`: meaning of text; `raw`: exact words,
    near-identical pictures."""
    available: bool


class ReadinessPreviousModels(TypedDict):
    space: str
    weights: str
    until: str


class ReadinessWorkspaceMinutes(TypedDict):
    """What `ttl_minutes` is clamped to."""

    min: int
    max: int


class JsonWebKeySet(TypedDict):
    keys: list[dict[str, Any]]


class SearchOptions(TypedDict):
    """`query`, `image_b64`, or both, which are then searched and fused; or `like`, or `queries`."""

    like: NotRequired[str | SearchOptionsLike]
    """Instead of `query`: find what is like this item of the index (its id), or like one place of it, by what is
    stored of it. The item, or with a place that place, is not among the hits."""
    queries: NotRequired[list[str | Question]]
    """Several questions in one call, instead of `query`: texts, or texts with their own families, k and filter.
    `answers` has the answer to each. At most 1000 hits in all."""
    fused: NotRequired[bool]
    """With `queries`: one list of `k` hits for all questions, such as several wordings of one. Default: no."""
    families: NotRequired[list[Family]]
    """Default: all that apply to the query."""
    k: NotRequired[int]
    """Maximum number of hits. Default: 30."""
    filter: NotRequired[Filter]
    order: NotRequired[Order]
    passages: NotRequired[int]
    """Show `text`: the whole passage of a hit, with so many passages on each side."""
    max_chars: NotRequired[int]
    """Characters of all `text` of an answer: the best hits first, whole sentences. What has no room is left out
    (`truncated`). Of several questions, for each."""
    explain: NotRequired[bool]
    """Include how the answer and each hit were computed. Default: no."""
    exact: NotRequired[bool]
    """Guarantee the true best rows of each list, also in large indexes, where `bounds` would otherwise state the
    expected recall. Adds some milliseconds there. Says nothing about relevance. Default: no."""
    min_confidence: NotRequired[float]
    """Leave out hits below this confidence. Default: keep all."""


class SearchOptionsLike(TypedDict):
    item: str
    """Id of an item."""
    page: NotRequired[int]
    """This page of it."""
    time_s: NotRequired[float]
    """The moment at this second."""
    char_start: NotRequired[int]
    """The passage that begins here, as in the `locator` of a hit."""
    passage: NotRequired[int]
    """The passage with this number, as `text_from` of a hit."""


class Question(TypedDict):
    """One of several questions: `query`, or `like`. What it leaves out is as in the request around it."""

    query: NotRequired[str]
    like: NotRequired[str | QuestionLike]
    """Instead of `query`: find what is like this item of the index (its id), or like one place of it, by what is
    stored of it. The item, or with a place that place, is not among the hits."""
    families: NotRequired[list[Family]]
    """Default: all that apply to the query."""
    k: NotRequired[int]
    """Maximum number of hits. Default: 30."""
    filter: NotRequired[Filter]


class QuestionLike(TypedDict):
    item: str
    """Id of an item."""
    page: NotRequired[int]
    """This page of it."""
    time_s: NotRequired[float]
    """The moment at this second."""
    char_start: NotRequired[int]
    """The passage that begins here, as in the `locator` of a hit."""
    passage: NotRequired[int]
    """The passage with this number, as `text_from` of a hit."""


Filter = TypedDict(
    "Filter",
    {
        "items": "NotRequired[list[str]]",
        "media_type": "NotRequired[str | list[str]]",
        "name": "NotRequired[str | list[str]]",
        "key": "NotRequired[str | list[str]]",
        "created_after": "NotRequired[str]",
        "created_before": "NotRequired[str]",
        "metadata": "NotRequired[dict[str, str | float | bool | list[str | float | bool] | Condition]]",
        "and": "NotRequired[list[dict[str, Any]]]",
        "or": "NotRequired[list[dict[str, Any]]]",
        "not": "NotRequired[dict[str, Any]]",
    },
)
"""Which items may be found: all that is named holds. At most 100 conditions, 1000 values in lists, 8 levels."""


Condition = TypedDict(
    "Condition",
    {
        "eq": "NotRequired[str | float | bool]",
        "in": "NotRequired[list[str | float | bool]]",
        "gt": "NotRequired[str | float | bool]",
        "gte": "NotRequired[str | float | bool]",
        "lt": "NotRequired[str | float | bool]",
        "lte": "NotRequired[str | float | bool]",
        "exists": "NotRequired[bool]",
    },
)
"""All that is named holds. A value is only compared with values of its own type."""


class Order(TypedDict):
    """The order of the hits. It is part of the scan: what comes early is found however many others match better."""

    by: str
    """`created_at`, when a file was added; or a field of your own metadata: `metadata.year`. Numbers, times or
    texts. Files without it come last."""
    direction: NotRequired[Literal["descending", "ascending"]]
    """Default: descending, the newest or greatest first. Without `decay`."""
    decay: NotRequired[OrderDecay]
    """Hits go by `confidence` × `weight`, which each hit shows. Without: the `likely` hits (with `min_confidence`:
    all) go by the value alone, and the others follow."""


OrderDecay = TypedDict(
    "OrderDecay",
    {
        "half_life": "float",
        "from": "NotRequired[float | str]",
    },
)
"""Hits go by `confidence` × `weight`, which each hit shows. Without: the `likely` hits (with `min_confidence`:
    all) go by the value alone, and the others follow."""


class GrepOptions(TypedDict):
    ignore_case: NotRequired[bool]
    """Letters match in upper and lower case. Default: no."""
    filter: NotRequired[Filter]
    max_lines: NotRequired[int]
    """Maximum number of lines. Default: 100."""
    context: NotRequired[int]
    """Lines of the passage to show before and behind each (`before`, `after`). Default: none."""
    after: NotRequired[str]
    """The `next` of the answer before: the search goes on there."""
