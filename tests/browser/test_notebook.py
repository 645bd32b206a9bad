"""Maps in a notebook: the frame at the end of a cell, and the widget with a fake model."""

import base64
import json

import pytest
from playwright.sync_api import expect

import dpviz
from dpviz.render import with_noise
from tests.browser.test_explore import shape, the_map
from tests.notebook.releases import moves

pytestmark = pytest.mark.browser
RECT = (14.5, -24.0, 14.7, -23.8)

NOTEBOOK = """<!doctype html><meta charset="utf-8"><title>notebook</title>
<body style="background:%s"><div id="cell"></div><script type="module">
const state = %s;
const listeners = {};
const model = window.model = {
  sent: [],
  get: name => state[name],
  set(name, value) {
    if (JSON.stringify(state[name]) === JSON.stringify(value)) return;
    state[name] = value;
    for (const call of listeners[name] ?? []) call();
  },
  save_changes() { this.sent.push({rectangle: state.rectangle, camera: state.camera}); },
  on(event, call) { (listeners[event.split(':')[1]] ??= new Set()).add(call); },
  off(event, call) { listeners[event.split(':')[1]].delete(call); },
};
for (const name of ['_columns', '_deck']) {
  state[name] = new DataView(Uint8Array.from(atob(state[name]), c => c.charCodeAt(0)).buffer);
}
window.define = Object.assign(() => {}, {amd: {}}); // a notebook's own loader of modules
const url = URL.createObjectURL(new Blob([state._esm], {type: 'text/javascript'}));
const widget = (await import(url)).default;
window.left = await widget.render({model, el: document.getElementById('cell')});
</script></body>"""


@pytest.fixture(scope="module")
def release():
    """A release of few cells, which are drawn without a GPU."""
    return dpviz.build(dpviz.load("city-50k"), "privtree", 0.1, seed=1)


def notebook(shown, background="#ffffff"):
    """A page that renders a widget; ``</`` would end the script that holds its state."""
    state = {name: value for name, value in shown.get_state().items() if name in shown.keys}
    plain = {
        name: base64.b64encode(value).decode() if isinstance(value, bytes) else value
        for name, value in state.items()
        if not name.startswith(("_model", "_view"))
    }
    return NOTEBOOK % (background, json.dumps(plain, default=str).replace("</", "<\\/"))


def words(answer):
    return with_noise(answer.count[0], answer.total_error[0])


def draw(page, map_view):
    """A rectangle by keyboard."""
    map_view.focus()
    for key in ("d", "Enter", "Shift+ArrowRight", "Shift+ArrowDown", "Enter"):
        page.keyboard.press(key)


@pytest.mark.webgl
def test_a_widget_and_python_share_the_rectangle(open_file, release):
    shown = dpviz.Map(release, rectangle=RECT)
    page = open_file(notebook(shown, "#111111"))
    map_view, answer = the_map(page), page.get_by_test_id("dpviz-answer")
    assert map_view.evaluate("e => e.classList.contains('dark')")
    expect(answer).to_contain_text(words(shown.answer))
    expect(page.locator(".handle:visible")).to_have_count(4)
    assert map_view.bounding_box()["width"] < answer.bounding_box()["x"]  # beside the map
    page.keyboard.press("d")  # goes to the notebook, because the map has no focus
    assert map_view.evaluate("e => e.__dpviz.tool") is None
    draw(page, map_view)
    drawn = page.evaluate("model.get('rectangle')")
    assert drawn == shape(map_view)["rect"] == page.evaluate("model.sent.at(-1).rectangle")
    shown.set_state({"rectangle": drawn})
    expect(answer).to_contain_text(words(shown.answer))
    page.evaluate("model.set('camera', {longitude: 14.6, latitude: -23.9, zoom: 12})")
    assert map_view.evaluate("e => e.__dpviz.camera.zoom") == 12
    page.evaluate("model.set('rectangle', null)")
    expect(answer).to_have_count(0)
    page.evaluate("left()")
    expect(map_view).to_have_count(0)


def test_a_release_at_the_end_of_a_cell_is_its_map(open_file, release):
    page = open_file(f"<!doctype html><title>notebook</title>{release._repr_html_()}")
    inside = page.frame_locator("iframe")
    map_view = the_map(inside)
    draw(page, map_view)
    answer = release.count(shape(map_view)["rect"])
    expect(inside.get_by_test_id("dpviz-answer")).to_contain_text(words(answer))


@pytest.mark.webgl
def test_moves_in_static_html_are_a_map_without_network(open_file):
    """As nbconvert and Quarto write it; of streets it is the same page."""
    page = open_file(f"<!doctype html><title>notebook</title>{moves()._repr_html_()}")
    map_view = the_map(page.frame_locator("iframe"))
    drawn = map_view.evaluate("e => e.__dpviz.deck.layerManager.getLayers().map(l => l.id)")
    assert "visits" in " ".join(drawn)
