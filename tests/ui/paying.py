"""Pay on a page without a browser: the button with the price, then the confirmation."""


def price(app):
    """The button that names the price."""
    (button,) = [each for each in app.button if each.label.startswith("Publish: spend")]
    return button


def pay(app):
    """Presses Publish and confirms."""
    price(app).click().run()
    return confirm(app)


def confirm(app):
    """The second press."""
    (button,) = [each for each in app.button if each.label == "Spend it"]
    return button.click().run()
