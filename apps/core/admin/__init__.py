"""What every admin class of the product is made of. Apps import the modules here by name."""
