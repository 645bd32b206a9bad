"""Files of one's own, given to a page without a browser."""

from dpviz.ui.shared.preflight import OWNER_ONLY

BOUNDS = (14, -24, 15, -23)
NODES = "node,x,y\na,0,0\nb,1,0\nc,2,0\nd,3,1\n"
EDGES = "edge,src,dst,length\n1,a,b,1\n2,b,c,1\n3,c,d,1\n"
GRAPH = {"nodes.csv": NODES, "edges.csv": EDGES}
"""Three streets on a plane of their own."""


def as_bytes(content):
    return content.encode() if isinstance(content, str) else content


def uploaded(app, key, name, content):
    """The page with a file, or text, in the uploader of this key."""
    return app.file_uploader(key=key).set_value((name, as_bytes(content), "")).run()


def bounded(app, page, bounds=BOUNDS):
    """The page with these sides of the area typed, where it asks for them."""
    if any(box.key == f"{page}.bounds" for box in app.text_input):
        app.text_input(key=f"{page}.bounds").set_value(", ".join(map(str, bounds)))
    return app.run()


def with_trips(app, name, trips, graph=GRAPH):
    """Page Roads with files of streets, and one of what was counted on them."""
    files = [(each, as_bytes(content), "") for each, content in graph.items()]
    app.file_uploader(key="roads.graph").set_value(files)
    return uploaded(app, "roads.trips", name, trips)


def exact_facts(app):
    """Numbers of the pre-flight check of an upload, last the records kept in its area."""
    boxes = [each.value for each in (*app.info, *app.warning, *app.error)]
    (facts,) = {each for each in boxes if each.startswith(OWNER_ONLY) and " kept" in each}
    return facts.removeprefix(f"{OWNER_ONLY}: ")
