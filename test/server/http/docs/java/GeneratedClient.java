import com.google.gson.Gson;
import com.google.gson.JsonParser;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.PerRequestApi;
import org.openapitools.client.api.WorkspacesApi;
import org.openapitools.client.model.*;

/**
 * Pays for a search and for a workspace, uploads into it, searches, looks at an item, meets errors and disposes, with what
 * openapi-generator made of the description alone. Usage: GeneratedClient URL SIGN...; SIGN is a command that turns the headers of a
 * 402 into the paying one. Prints one JSON line: what each step answered.
 */
public class GeneratedClient {
  interface Call {
    Object make() throws ApiException;
  }

  static String[] sign;

  /** The value of PAYMENT-SIGNATURE for what a call without one is quoted. */
  static String signed(Call unpaid) throws Exception {
    try {
      unpaid.make();
      throw new IllegalStateException("answered without a payment");
    } catch (ApiException quote) {
      if (quote.getCode() != 402) throw quote;
      String required = header(quote, "payment-required");
      Process signer = new ProcessBuilder(sign).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      signer.getOutputStream().write(("PAYMENT-REQUIRED: " + required + "\n").getBytes(StandardCharsets.UTF_8));
      signer.getOutputStream().close();
      String header = new String(signer.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      for (String line : header.split("\n")) if (line.startsWith("PAYMENT-SIGNATURE: ")) return line.substring(19);
      throw new IllegalStateException("no payment: " + header);
    }
  }

  static String header(ApiException answer, String name) {
    for (Map.Entry<String, List<String>> header : answer.getResponseHeaders().entrySet())
      if (header.getKey().equalsIgnoreCase(name)) return header.getValue().get(0);
    throw new IllegalStateException("no header " + name);
  }

  static String codeOf(Call call) throws Exception {
    try {
      call.make();
      return "none";
    } catch (ApiException problem) {
      return JsonParser.parseString(problem.getResponseBody()).getAsJsonObject().get("code").getAsString();
    }
  }

  public static void main(String[] words) throws Exception {
    sign = java.util.Arrays.copyOfRange(words, 1, words.length);
    ApiClient client = new ApiClient();
    client.setBasePath(words[0]);
    client.setReadTimeout(60_000);
    PerRequestApi requests = new PerRequestApi(client);
    File log = Files.createTempDirectory("generated").resolve("log.txt").toFile();
    Files.writeString(log.toPath(), "The lighthouse keeper counts gulls at dawn.");
    SearchRequest gulls = new SearchRequest().query("gulls");

    String uploading = signed(() -> requests.ingest(log, null, null, null, null, null, null, null, null, null, null, null));
    IngestResponse paid = requests.ingest(log, null, uploading, null, null, "wait=60", null, null, null, null, null, null);
    String searching = signed(() -> requests.search(gulls, null, null, null, null));
    SearchResponse found = requests.search(gulls, null, searching, null, null);

    WorkspaceCreate minutes = new WorkspaceCreate().ttlMinutes(15);
    WorkspacesApi workspaces = new WorkspacesApi(client);
    String renting = signed(() -> workspaces.createWorkspace(null, null, null, null, minutes));
    Workspace rented = workspaces.createWorkspace(null, renting, null, null, minutes);
    String id = rented.getId();
    client.setBearerToken(rented.getCapabilityToken());
    IngestResponse inside = workspaces.ingestWorkspace(id, log, "wait=60", null, null, null, null, null, null);
    SearchResponse hits = workspaces.searchWorkspace(id, gulls);
    Item item = workspaces.workspaceItem(id, inside.getItem().getId());
    String refused = codeOf(() -> workspaces.searchWorkspace(id, new SearchRequest().query("gulls").k(0)));
    String absent = codeOf(() -> workspaces.workspaceItem(id, "item_00000000000000000000000000000000"));
    WorkspaceUsage usage = workspaces.workspaceUsage(id);
    DisposalReceipt ended = workspaces.disposeWorkspace(id);
    String gone = codeOf(() -> workspaces.workspaceUsage(id));

    Map<String, Object> said = new LinkedHashMap<>();
    said.put("paid", List.of(paid.getItem().getState().getValue(), paid.getCharged(), found.getHits().get(0).getItem().getName()));
    said.put("inside", List.of(inside.getItem().getState().getValue(), hits.getHits().get(0).getItem().getName(), item.getMediaType()));
    said.put("problems", List.of(refused, absent, gone));
    said.put("usage", List.of(usage.getState().getValue(), usage.getSearches()));
    said.put("ended", List.of(ended.getState().getValue(), ended.getReceipt().split("\\.").length));
    System.out.println(new Gson().toJson(said));
  }
}
