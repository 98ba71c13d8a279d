import { formatMs } from '../../model/figures/format.ts';
import { calls } from '../../model/server/calls.ts';
import { useStore } from '../../model/state/store.ts';

/** The page's requests to the server, as an example for authors of agents. */
export function Requests() {
  const { list } = useStore(calls);
  return (
    <details class="requests">
      <summary>
        Requests <span class="count">{list.length}</span>
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section class="scroller" tabIndex={0} aria-label="Requests, newest first">
        <table>
          <thead>
            <tr>
              <th scope="col">Status</th>
              <th scope="col">Request</th>
              <th scope="col">Note</th>
              <th scope="col" class="figure">
                ms
              </th>
            </tr>
          </thead>
          <tbody>
            {list.map(({ number, method, path, status, milliseconds, note }) => (
              <tr key={number}>
                <td>
                  <span class="status" data-kind={Math.floor(status / 100)}>
                    {status || 'none'}
                  </span>
                </td>
                <td>
                  <code>
                    {method} {path}
                  </code>
                </td>
                <td>{note}</td>
                <td class="figure">{formatMs(milliseconds)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  );
}
