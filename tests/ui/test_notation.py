"""Number and time formats chosen on a page, and reasons for dropped public records."""

from tests.ui.files import bounded, uploaded
from tests.ui.opening import metrics, open_tab, opened_page, texts

HEADER = "at,pickup_lon,pickup_lat,dropoff_lon,dropoff_lat\n"
ROWS = "03/05/2024 10:00:00 AM,14.5,-23.5,0,0\n" * 100


def box(app, label):
    (found,) = [each for each in app.selectbox if each.label == label]
    return found


def test_columns_and_times_are_declared_and_the_reason_of_a_loss_is_said():
    app = opened_page(data="Your own file")
    uploaded(app, "explore.file", "rides.csv", HEADER + ROWS)
    app.segmented_control(key="explore.public.upload").set_value("public").run()
    assert "Choose the columns of the coordinates." in texts(app)
    pairs = box(app, "Coordinates")
    assert pairs.options == ["pickup_lon, pickup_lat", "dropoff_lon, dropoff_lat"]
    pairs.set_value(("pickup_lon", "pickup_lat")).run()
    box(app, "Column of the time").set_value("at").run()
    app.text_input(key="explore.from").set_value("2024-03-01")
    app.text_input(key="explore.to").set_value("2024-04-01").run()
    bounded(app, "explore")
    assert "100 of 100 times cannot be read" in texts(app)
    box(app, "Times are written as").set_value("us").run()
    assert "dropped" not in "".join(each.value for each in app.warning)
    assert metrics(open_tab(app, "Summary"))["Exact total (public data)"] == "100"
    bounded(app, "explore", (15, -24, 16, -23))
    lost = "100 records read, 0 kept; dropped: 100 outside the area"
    assert lost in texts(app).replace("\\", "")


def test_a_column_of_points_needs_its_order():
    app = opened_page(data="Your own file")
    uploaded(app, "explore.file", "a.csv", "id,location\n" + '0,"(-23.5, 14.5)"\n' * 100)
    app.segmented_control(key="explore.public.upload").set_value("public").run()
    for label in ("Longitude / x", "Latitude / y"):
        box(app, label).set_value("location").run()
    assert "Choose the order of the coordinates." in texts(app)
    app.segmented_control(key="explore.order").set_value("lat,lon").run()
    bounded(app, "explore")
    assert metrics(open_tab(app, "Summary"))["Exact total (public data)"] == "100"
