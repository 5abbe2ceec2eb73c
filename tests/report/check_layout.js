// Runs inside a copy of a page, in a frame of a given width, and tells the surrounding page what is wrong with
// its layout.
'use strict';
window.addEventListener('load', async () => {
  const problems = [];
  const check = (ok, text) => { if (!ok) problems.push(text); };
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const brief = (element) => `${element.tagName} ${element.textContent.replace(/\s+/g, ' ').trim().slice(0, 40)}`;
  const images = all('figure img');
  await Promise.all(images.map((image) => image.decode().catch(() => {})));
  for (const image of images) {
    // One that is not shown (of two for light and dark) may be unloaded.
    if (image.getClientRects().length === 0) continue;
    check(image.complete && image.naturalWidth > 0, `a figure is not drawn: ${image.alt.slice(0, 40)}`);
    check(image.clientWidth > 0.85 * image.naturalWidth, `a figure is shrunk beyond reading: ${image.alt.slice(0, 40)}`);
    check(image.alt.length > 10, 'a figure has no description');
  }
  for (const element of all('[src], [srcset], link[href]')) {
    for (const name of ['src', 'srcset', 'href']) {
      const address = element.getAttribute(name);
      check(address === null || address.startsWith('data:'), `${element.tagName} loads ${address}`);
    }
  }
  const ids = all('[id]').map((element) => element.id);
  check(new Set(ids).size === ids.length, 'an id occurs twice');
  check(document.documentElement.scrollWidth <= window.innerWidth, `the page is ${document.documentElement.scrollWidth} px wide`);
  for (const element of all('body *')) {
    const inside = element.parentElement.closest('.scroll');
    check(inside || element.getBoundingClientRect().right <= window.innerWidth + 0.5, `sticks out: ${brief(element)}`);
  }
  // The last column of every table can be brought into view.
  for (const table of all('table')) {
    const box = table.closest('.scroll') || table.parentElement;
    box.scrollLeft = box.scrollWidth;
    const right = table.getBoundingClientRect().right;
    check(right <= window.innerWidth + 0.5, `clipped: ${brief(table)}`);
    box.scrollLeft = 0;
    if (box.scrollWidth > box.clientWidth + 1) {
      check(window.innerWidth < 1000, `does not fit a wide page: ${brief(table)}`);
      check(['auto', 'scroll'].includes(getComputedStyle(box).overflowX), `no way to scroll: ${brief(table)}`);
    }
  }
  // The text can be read on its ground.
  const lightness = (colour) => colour.match(/[\d.]+/g).slice(0, 3).reduce((sum, each) => sum + Number(each), 0) / 3;
  const style = getComputedStyle(document.body);
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  check(dark === (lightness(style.backgroundColor) < 128), `the ground is ${style.backgroundColor}`);
  check(Math.abs(lightness(style.color) - lightness(style.backgroundColor)) > 120, 'the text is faint');
  const figures = all('figure').filter((figure) => all('img', figure).some((image) => image.getClientRects().length > 0)).length;
  parent.postMessage({width: window.innerWidth, colour: dark ? 'dark' : 'light', figures, problems}, '*');
});
