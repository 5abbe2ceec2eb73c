// Runs inside a copy of report.html, in a frame of a given width, where light or dark is preferred;
// RESULTS is its results.json. Tells the surrounding page what is wrong.
'use strict';
window.addEventListener('load', async () => {
  const problems = [];
  const check = (ok, text) => { if (!ok) problems.push(text); };
  const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
  const plain = (text) => text.replace(/\s+/g, ' ').trim();
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const brief = (element) => `${element.tagName} ${plain(element.textContent).slice(0, 40)}`;

  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  // From 0 to 255, of the colour that CSS or a pixel gives.
  const lightness = ([red, green, blue]) => (red + green + blue) / 3;
  const corner = (image) => {
    const context = Object.assign(document.createElement('canvas'), {width: 4, height: 4}).getContext('2d');
    context.drawImage(image, 0, 0);
    return lightness(context.getImageData(1, 1, 1, 1).data);
  };
  const ground = lightness(getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number));
  check(dark ? ground < 60 : ground > 200, `the page's ground is of lightness ${ground}`);
  const shown = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && box.left >= 0 && box.right <= window.innerWidth + 0.5;
  };

  await Promise.all(all('img').map((image) => image.decode().catch(() => {})));
  let tables = 0, figures = 0;
  for (const experiment of RESULTS.experiments) {
    const section = document.getElementById('experiment-' + slug(experiment.name));
    check(section, `experiment ${experiment.name} is missing`);
    if (!section) continue;
    for (const text of [experiment.title, experiment.claim, experiment.method]) {
      check(!text || plain(section.textContent).includes(plain(text)), `lost: ${text}`);
    }
    for (const table of experiment.tables) {
      const block = document.getElementById('table-' + slug(table.id));
      check(block, `table ${table.id} is missing`);
      if (!block) continue;
      ++tables;
      const rows = all('tbody tr', block);
      check(rows.length === table.rows.length, `table ${table.id} has ${rows.length} rows`);
      table.rows.forEach((row, i) => {
        const label = rows[i] ? plain(rows[i].querySelector('th').textContent) : '';
        check(label.replace(/ †$/, '') === plain(row.label), `table ${table.id}: row ${row.label} is ${label}`);
        check(rows[i] && all('td', rows[i]).length === table.columns.length, `table ${table.id}: cells of ${row.label}`);
      });
      check(!table.verdict || block.textContent.includes(table.verdict), `table ${table.id}: no verdict`);
    }
    for (const figure of experiment.figures) {
      const image = document.querySelector(`#figure-${slug(figure.id)} img`);
      check(image, `figure ${figure.id} is missing`);
      if (!image) continue;
      ++figures;
      check(image.complete && image.naturalWidth > 0 && image.naturalHeight > 0, `figure ${figure.id} is not drawn`);
      check(image.clientWidth > 0.85 * image.naturalWidth, `figure ${figure.id} is shrunk beyond reading`);
      if (image.naturalWidth > 0) check(Math.abs(corner(image) - ground) < 12, `figure ${figure.id} has another ground than the page: ${corner(image)}`);
      check(image.alt.length > 10, `figure ${figure.id} has no description`);
    }
  }
  for (const row of all('#summary tbody tr')) {
    const why = row.querySelector('td:last-child');
    check(plain(why.textContent) && shown(why), `no reason is seen: ${brief(row)}`);
    check(shown(row.querySelector('.verdict, .none')), `no verdict is seen: ${brief(row)}`);
  }
  for (const box of all('.scroll')) {
    check(box.scrollWidth <= box.clientWidth, `clipped: ${brief(box)}: ${box.scrollWidth} of ${box.clientWidth} px`);
  }
  check(all('figure').length === figures, 'there are figures that the results do not have');
  check(all('main section > div table').length <= tables + 2, 'there are tables that the results do not have');
  for (const link of all('a')) {
    const address = link.getAttribute('href');
    const known = address.startsWith('https://arxiv.org/abs/') || (address.startsWith('#') && document.getElementById(address.slice(1)));
    check(known, `the link ${address} leads nowhere`);
  }
  for (const element of all('[src], [srcset], link[href]')) {
    for (const name of ['src', 'srcset', 'href']) {
      const address = element.getAttribute(name);
      check(address === null || address.startsWith('data:'), `${element.tagName} loads ${address}`);
    }
  }
  const loaded = performance.getEntriesByType('resource').map((entry) => entry.name).filter((name) => !name.startsWith('data:'));
  check(loaded.length === 0, `the page loads ${loaded}`);
  const ids = all('[id]').map((element) => element.id);
  check(new Set(ids).size === ids.length, 'an id occurs twice');
  check(document.documentElement.scrollWidth <= window.innerWidth, `the page is ${document.documentElement.scrollWidth} px wide`);
  for (const element of all('body *')) {
    check(element.getBoundingClientRect().right <= window.innerWidth + 0.5, `sticks out: ${brief(element)}`);
  }
  check(!/(^|[\s(=≤≥])-\d|\de[+-]\d/.test(all('td, .why, .note').map((element) => element.textContent).join(' ')), 'a hyphen for a minus');
  check(parseFloat(getComputedStyle(document.body).fontSize) >= 15, 'the text is small');
  parent.postMessage({width: window.innerWidth, scheme: dark ? 'dark' : 'light', tables, figures, problems}, '*');
});
