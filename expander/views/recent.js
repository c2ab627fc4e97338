// Keeps the last ten results on this device, and lists them on the empty page. Runs after page.js.
{
  const recent = JSON.parse(localStorage.recent ?? '[]');
  const { site } = document.querySelector('[data-site]')?.dataset ?? {};
  if (site) {
    const u = document.querySelector('#u').value;
    const others = recent.filter((other) => other.u !== u);
    localStorage.recent = JSON.stringify([{ u, site }, ...others].slice(0, 10));
  }
  const intro = document.querySelector('#intro');
  if (intro && recent.length > 0) {
    intro.insertAdjacentHTML(
      'beforeend',
      `<div id="recent"><h2>Your last links</h2><ul></ul><p>Only on this device.
      <button type="button">Forget</button></p></div>`,
    );
    const list = intro.lastElementChild;
    for (const { u, site } of recent) {
      const link = document.createElement('a');
      link.href = `/?${new URLSearchParams({ u })}`;
      link.textContent = u;
      const item = document.createElement('li');
      const host = document.createElement('bdi');
      host.className = 'host';
      host.textContent = site;
      item.append(link, ' → ', host);
      list.querySelector('ul').append(item);
    }
    list.querySelector('button').addEventListener('click', () => {
      localStorage.removeItem('recent');
      list.remove();
    });
  }
}
